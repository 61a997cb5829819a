"""What tests of programs that have a native twin share: both end alike, undisturbed, moved at polls and continued in Node."""

import functools
import os
import random
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from support.harness import EndToEnd, Finished, godwit, mobile, native, run
from support.journey import Journey, count_polls
from support.programs import SOURCE_ROOT, Program

MOVER = os.environ.get("GODWIT_MOVER", str(SOURCE_ROOT / "build/bin/godwit-mover"))
SIGABRT_EXIT = 134


@functools.cache
def expected_of(program: Program) -> Finished:
    """What the program does on this machine, in an empty folder; a program ended by abort() has the exit code a shell would show."""
    with tempfile.TemporaryDirectory(prefix="godwit-native-") as folder:
        done = run([native(program.source)], folder=folder)
    return Finished(done.command, SIGABRT_EXIT if done.code == -6 else done.code, done.out, done.err)


class NativeTwin(EndToEnd):
    def assert_same(self, done: Finished, expected: Finished, context: str):
        self.assert_output(done.out, expected.out, f"{context}: {done.err[-500:]}")
        self.assertEqual(done.code, expected.code, f"{context}: {done}")

    def assert_same_undisturbed_and_moved(self, programs: list[Program], polls_between_moves: Callable[[Program], int]):
        def all_ways(program: Program) -> tuple[Finished, Finished, Finished]:
            undisturbed = godwit("run", program.source)
            module = mobile(program.source, "--poll=counter")
            return expected_of(program), undisturbed, run([MOVER, module, polls_between_moves(program)])

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            ways = {program: pool.submit(all_ways, program) for program in programs}
            for program, ended in ways.items():
                with self.subTest(program=program.name):
                    expected, undisturbed, moved = ended.result()
                    self.assert_same(undisturbed, expected, "undisturbed")
                    self.assert_same(moved, expected, "moved")

    def assert_images_continue_in_node(self, programs: list[Program], seed: int):
        rng = random.Random(seed)
        moves = 0
        chosen = [program for program in programs if expected_of(program).code == 0]
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
                self.assert_output(journey.out, expected_of(program).out, f"{program.name} after {journey.moves} moves")
                moves += journey.moves
        self.assertGreater(moves, len(chosen) // 2)
