"""Programs suspended again and again, each time continued in a new process, print what an undisturbed one prints."""

import random
import unittest
from pathlib import Path

from support.harness import EXIT_SUSPENDED, SCALE, EndToEnd, godwit, mobile, native_output
from support.journey import Journey
from support.programs import ALL, Program

MOVES = 50 * SCALE
TIMED_MOVES = 10 * SCALE


class Moves(EndToEnd):
    def test_suspended_at_random_polls(self):
        rng = random.Random(2)
        for program in ALL:
            with self.subTest(program=program.name):
                module = mobile(program.source, "--poll=counter")
                longest = 2 * self._count_polls(module, program) // MOVES
                journey = Journey(self, module, program)
                while journey.moves < MOVES and not journey.ended:
                    journey.leg("--suspend-after-polls", str(rng.randint(0, longest)))
                self._finish(journey, program, at_least=MOVES // 2)

    def test_suspended_at_random_times(self):
        rng = random.Random(3)
        for program in ALL:
            with self.subTest(program=program.name):
                journey = Journey(self, mobile(program.source), program)
                journey.leg("--suspend-after", "0ms")  # so that a program that is faster than the first request has moved, too
                while journey.moves < TIMED_MOVES and not journey.ended:
                    journey.leg("--suspend-after", f"{rng.randint(0, 20)}ms")
                self._finish(journey, program, at_least=1)

    def _finish(self, journey: Journey, program: Program, at_least: int):
        if not journey.ended:
            journey.leg()
        self.assertGreaterEqual(journey.moves, at_least, f"{program.name} ended too early to say anything")
        self.assert_output(journey.out, native_output(program), f"{program.name} after {journey.moves} moves")

    def _count_polls(self, module: Path, program: Program) -> int:
        """The number of polls of an undisturbed run, to within a factor of two."""
        polls = 1024
        image = self.folder / "count.image"
        while True:
            done = godwit("run", module, "--suspend-after-polls", str(polls), "--image", image, "--", *program.args, stdin=program.stdin)
            if done.code != EXIT_SUSPENDED:
                return polls // 2
            polls *= 2


if __name__ == "__main__":
    unittest.main()
