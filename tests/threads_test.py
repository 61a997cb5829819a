"""Programs with threads do what they do natively, and can be moved at every poll and into Node; a deadlock is reported."""

import unittest

from support.harness import SCALE, godwit, mobile, run
from support.native_twin import MOVER, SIGABRT_EXIT, NativeTwin
from support.programs import SOURCE_ROOT, Program

GUESTS = SOURCE_ROOT / "tests/guests/threads"

# These do not end natively as they do here.
OTHER_END = {"deadlock", "self_deadlock", "stack_overflow", "many", "turns"}
# Polls between two moves, where every poll would take too long; in soak they are moved at each.
POLLS_BETWEEN_MOVES = {"coordination": 12, "futures": 20, "mutexes": 30, "posix": 6, "producer_consumer": 5, "sleepers": 100}
# Moves would take longer than it sleeps.
NEVER_AT_EVERY_POLL = {"sleepers"}
IN_NODE = {"futures", "posix", "producer_consumer", "thread_locals"}


def programs() -> list[Program]:
    files = sorted([*GUESTS.glob("*.cpp"), *GUESTS.glob("*.c")])
    return [Program(str(file.relative_to(SOURCE_ROOT))) for file in files if file.stem not in OTHER_END]


def polls_between_moves(program: Program) -> int:
    name = program.source.stem
    return POLLS_BETWEEN_MOVES.get(name, 1) if SCALE == 1 or name in NEVER_AT_EVERY_POLL else 1


class Threads(NativeTwin):
    def test_the_output_is_native_and_stays_so_when_moved(self):
        self.assert_same_undisturbed_and_moved(programs(), polls_between_moves)

    def test_images_continue_in_node(self):
        self.assert_images_continue_in_node([program for program in programs() if SCALE > 1 or program.source.stem in IN_NODE], seed=6)

    def _ends_with(self, name: str, *words: str):
        done = godwit("run", GUESTS / name)
        self.assertEqual(done.code, SIGABRT_EXIT, done)
        for word in words:
            self.assertIn(word, done.err)
        return done

    def test_a_deadlock_names_the_threads_and_what_they_wait_for(self):
        done = self._ends_with("deadlock.cpp", "deadlock", "thread 1 for a mutex", "thread 2 for a mutex")
        self.assertEqual(done.out, b"before\n")
        self._ends_with("self_deadlock.cpp", "deadlock", "the only thread of the program waits")

    def test_an_uncaught_exception_of_a_thread_is_named(self):
        self._ends_with("uncaught.cpp", "std::runtime_error: nobody catches this")

    def test_a_stack_that_is_too_small_is_named(self):
        self._ends_with("stack_overflow.cpp", "stack overflow in thread 3: its stack has 262144 bytes")

    def test_the_number_of_threads_has_a_limit(self):
        done = godwit("run", GUESTS / "many.cpp")
        self.assertEqual((done.out, done.code), (b"1023 threads, sum 522753, refused 1\n", 0), done)

    def test_threads_need_a_mobile_module(self):
        done = godwit("run", GUESTS / "many.cpp", "--mobile=off")
        self.assertNotEqual(done.code, 0)
        self.assertIn("without --mobile=off", done.err)

    def test_two_runs_take_the_same_turns(self):
        """The order in which threads run depends on nothing but the program."""
        runs = {godwit("run", GUESTS / "turns.cpp").out for _ in range(3)}
        moved = run([MOVER, mobile(GUESTS / "turns.cpp", "--poll=counter"), 10])
        self.assertEqual(runs, {moved.out})
        self.assertGreater(len(moved.out), 80)


if __name__ == "__main__":
    unittest.main()
