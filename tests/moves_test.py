"""Programs suspended again and again, each time continued in a new process, print what an undisturbed one prints."""

import random
import time
import unittest
from pathlib import Path

from support.harness import EXIT_SUSPENDED, SCALE, EndToEnd, Finished, godwit, mobile, native_output
from support.programs import ALL, Program

MOVES = 50 * SCALE


class Journey:
    """One run of a module that is suspended after each leg and continued by a new process."""

    def __init__(self, case: EndToEnd, module: Path, program: Program):
        self._case = case
        self._module = module
        self._program = program
        self._stdin = case.stdin_of(program)
        self._image: Path | None = None
        self.moves = 0
        self.out = b""
        self.done: Finished | None = None

    def leg(self, *until: str) -> bool:
        """Goes on, suspended as `until` says; without it, to the end. Says whether the program goes on after it."""
        images = self._case.folder / f"{self.moves % 2}.image"
        stop = (*until, "--image", images) if until else ()
        if self._image is None:
            done = godwit("run", self._module, *stop, "--", *self._program.args, stdin=self._stdin)
        else:
            done = godwit("resume", self._image, *stop, stdin=self._stdin)
        self.out += done.out
        if done.code not in (0, EXIT_SUSPENDED):
            self._case.fail(f"after {self.moves} moves: {done}")
        self.done = done
        if done.code == 0:
            return False
        self._image = images
        self.moves += 1
        return True


class Moves(EndToEnd):
    def test_suspended_at_random_polls(self):
        rng = random.Random(2)
        for program in ALL:
            with self.subTest(program=program.name):
                module = mobile(program.source, "--poll=counter")
                step = 2 * self._count_polls(module, program) // MOVES
                journey = Journey(self, module, program)
                while journey.moves < MOVES and journey.leg("--suspend-after-polls", str(rng.randint(0, step))):
                    pass
                self._finish(journey, program, at_least=MOVES // 2)

    def test_suspended_at_random_times(self):
        rng = random.Random(3)
        for program in ALL:
            with self.subTest(program=program.name):
                module = mobile(program.source)
                start = time.monotonic()
                godwit("run", module, "--", *program.args, stdin=program.stdin, check=True)
                limit_us = int((time.monotonic() - start) * 1e6)
                journey = Journey(self, module, program)
                while journey.moves < MOVES // 5 and journey.leg("--suspend-after", f"{rng.randint(0, limit_us // 4)}us"):
                    pass
                self._finish(journey, program, at_least=1)

    def _finish(self, journey: Journey, program: Program, at_least: int):
        while journey.done.code == EXIT_SUSPENDED and journey.leg():
            pass
        self.assertGreaterEqual(journey.moves, at_least, f"{program.name} ended too early to say anything")
        self.assert_output(journey.out, native_output(program), f"{program.name} after {journey.moves} moves")

    def _count_polls(self, module: Path, program: Program) -> int:
        """The number of polls of an undisturbed run, to within a factor of two."""
        polls = 64
        while True:
            image = self.folder / "count.image"
            done = godwit("run", module, "--suspend-after-polls", str(2 * polls), "--image", image, "--", *program.args, stdin=program.stdin)
            if done.code != EXIT_SUSPENDED:
                return polls
            polls *= 2


if __name__ == "__main__":
    unittest.main()
