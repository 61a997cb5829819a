"""Programs suspended again and again, each time continued in a new process, print what an undisturbed one prints."""

import random
import unittest

from support.harness import SCALE, EndToEnd, mobile, native_output
from support.journey import Journey, count_polls
from support.programs import ALL, EXAMPLES, Program

TIMED_MOVES = 10 * SCALE


def moves_of(program: Program) -> int:
    """Examples move fifty times. So do kernels, which are many, in soak; fifteen times where it has to be done in minutes."""
    return 50 * SCALE if program in EXAMPLES or SCALE > 1 else 15


class Moves(EndToEnd):
    def test_suspended_at_random_polls(self):
        rng = random.Random(2)
        for program in reversed(ALL):  # outputs_test.py, which runs beside this, builds them from the other end
            with self.subTest(program=program.name):
                module = mobile(program.source, "--poll=counter")
                moves = moves_of(program)
                longest = 2 * count_polls(self, module, program).polls // moves
                journey = Journey(self, module, program)
                while journey.moves < moves and not journey.ended:
                    journey.leg("--suspend-after-polls", str(rng.randint(0, longest)))
                self._finish(journey, program, at_least=moves // 2)

    def test_suspended_at_random_times(self):
        rng = random.Random(3)
        moves = 0
        programs = ALL if SCALE > 1 else EXAMPLES
        for program in programs:
            with self.subTest(program=program.name):
                journey = Journey(self, mobile(program.source), program)
                journey.leg("--suspend-after", "0ms")
                while journey.moves < TIMED_MOVES and not journey.ended:
                    journey.leg("--suspend-after", f"{rng.randint(0, 20)}ms")
                self._finish(journey, program, at_least=0)
                moves += journey.moves
        # On a busy machine a single program may end before it hears of a request.
        self.assertGreaterEqual(moves, len(programs))

    def _finish(self, journey: Journey, program: Program, at_least: int):
        if not journey.ended:
            journey.leg()
        self.assertGreaterEqual(journey.moves, at_least, f"{program.name} ended too early to say anything")
        self.assert_output(journey.out, native_output(program), f"{program.name} after {journey.moves} moves")


if __name__ == "__main__":
    unittest.main()
