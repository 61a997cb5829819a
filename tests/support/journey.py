"""One run of a program that is suspended after each leg and continued by a new process, natively or in Node."""

import signal
from pathlib import Path
from typing import NamedTuple

from support.harness import EXIT_INTERRUPTED, EXIT_SUSPENDED, GODWIT, NODE, EndToEnd, Finished, run, run_until_it_prints
from support.programs import SOURCE_ROOT, Program

RESUME_IN_NODE = SOURCE_ROOT / "web/resume.mjs"


class Journey:
    """`options` are those of `godwit run` that stay with the program; `folder` is where all its commands are started."""

    def __init__(self, case: EndToEnd, module: Path, program: Program, options: tuple[str, ...] = (), folder: Path | None = None):
        self._case = case
        self._module = module
        self._program = program
        self._options = options
        self._folder = folder
        self._stdin = case.stdin_of(program)
        self._last: Finished | None = None
        self.image: Path | None = None
        self.moves = 0
        self.out = b""

    @property
    def ended(self) -> bool:
        return self._last is not None and self._last.code == 0

    def leg(self, *until: str) -> None:
        """Goes on in a new process, suspended as `until` says; without it, to the end."""
        target = self._next_image()
        stop = (*until, "--image", target) if until else ()
        self._take(run(self._command(*stop), stdin=self._stdin, folder=self._folder), target)

    def leg_until_it_prints(self) -> None:
        """Goes on in a new process and interrupts it when the first byte of its output has come."""
        target = self._next_image()
        self._take(run_until_it_prints(self._command("--image", target), signal.SIGTERM, stdin=self._stdin, folder=self._folder), target)

    def _command(self, *stop) -> list:
        if self.image is None:
            return [GODWIT, "run", self._module, "--seed", "1", *self._options, *stop, "--", *self._program.args]
        return [GODWIT, "resume", self.image, "--allow-files", *stop]

    def leg_in_node(self, *words: str) -> None:
        target = self._next_image()
        stop = ("--image", target) if words else ()
        self._take(run([NODE, RESUME_IN_NODE, self.image, *words, *stop], stdin=self._stdin), target)

    def _next_image(self) -> Path:
        return self._case.folder / f"journey-{self.moves % 2}.image"

    def _take(self, done: Finished, target: Path) -> None:
        self.out += done.out
        self._last = done
        if done.code in (EXIT_SUSPENDED, EXIT_INTERRUPTED):
            self.image = target
            self.moves += 1
        elif done.code != 0:
            self._case.fail(f"after {self.moves} moves: {done}")


class Undisturbed(NamedTuple):
    polls: int  # to within a factor of two: there are at least as many
    out: bytes


def count_polls(case: EndToEnd, module: Path, program: Program, options: tuple[str, ...] = (), folder: Path | None = None) -> Undisturbed:
    """Runs a module that counts its polls, from the start each time, until it is not suspended before its end."""
    polls = 1024
    image = case.folder / "count.image"
    while True:
        words = ["run", module, *options, "--suspend-after-polls", polls, "--image", image, "--", *program.args]
        done = run([GODWIT, *words], stdin=program.stdin, folder=folder)
        if done.code != EXIT_SUSPENDED:
            case.assertEqual(done.code, 0, done)
            return Undisturbed(polls // 2, done.out)
        polls *= 2
