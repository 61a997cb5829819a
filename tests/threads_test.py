"""Programs with threads do what they do natively, and can be moved at every poll and into Node; a deadlock is reported."""

import functools
import os
import random
import unittest
from concurrent.futures import ThreadPoolExecutor

from support.harness import SCALE, EndToEnd, Finished, godwit, mobile, native, run
from support.journey import Journey, count_polls
from support.programs import SOURCE_ROOT, Program

MOVER = os.environ.get("GODWIT_MOVER", str(SOURCE_ROOT / "build/bin/godwit-mover"))
GUESTS = SOURCE_ROOT / "tests/guests/threads"
SIGABRT_EXIT = 134

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


@functools.cache
def expected_of(program: Program) -> Finished:
    done = run([native(program.source)])
    return Finished(done.command, SIGABRT_EXIT if done.code == -6 else done.code, done.out, done.err)


class Threads(EndToEnd):
    def assert_same(self, done: Finished, expected: Finished, context: str):
        self.assert_output(done.out, expected.out, f"{context}: {done.err[-500:]}")
        self.assertEqual(done.code, expected.code, f"{context}: {done}")

    def test_the_output_is_native_and_stays_so_when_moved(self):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            ways = {program: pool.submit(self._all_ways, program) for program in programs()}
            for program, ended in ways.items():
                with self.subTest(program=program.name):
                    undisturbed, moved = ended.result()
                    self.assert_same(undisturbed, expected_of(program), "undisturbed")
                    self.assert_same(moved, expected_of(program), "moved")

    @staticmethod
    def _all_ways(program: Program) -> tuple[Finished, Finished]:
        name = program.source.stem
        polls = POLLS_BETWEEN_MOVES.get(name, 1) if SCALE == 1 or name in NEVER_AT_EVERY_POLL else 1
        module = mobile(program.source, "--poll=counter")
        return godwit("run", module), run([MOVER, module, polls])

    def test_images_continue_in_node(self):
        rng = random.Random(6)
        moves = 0
        chosen = [program for program in programs() if expected_of(program).code == 0 and (SCALE > 1 or program.source.stem in IN_NODE)]
        for program in chosen:
            with self.subTest(program=program.name):
                module = mobile(program.source, "--poll=counter")
                longest = count_polls(self, module, program).polls
                journey = Journey(self, module, program)
                journey.leg("--suspend-after-polls", str(rng.randint(0, longest)))
                if not journey.ended:
                    journey.leg_in_node("--suspend-after-polls", str(rng.randint(0, longest)))
                if not journey.ended:
                    journey.leg()
                self.assert_output(journey.out, expected_of(program).out, program.name)
                moves += journey.moves
        self.assertGreater(moves, len(chosen) // 2)

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
