"""One run of a program that is suspended after each leg and continued by a new process, natively or in Node."""

from pathlib import Path

from support.harness import EXIT_SUSPENDED, NODE, EndToEnd, Finished, godwit, run
from support.programs import SOURCE_ROOT, Program

RESUME_IN_NODE = SOURCE_ROOT / "web/resume.mjs"


class Journey:
    def __init__(self, case: EndToEnd, module: Path, program: Program):
        self._case = case
        self._module = module
        self._program = program
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
        if self.image is None:
            done = godwit("run", self._module, "--seed", "1", *stop, "--", *self._program.args, stdin=self._stdin)
        else:
            done = godwit("resume", self.image, *stop, stdin=self._stdin)
        self._take(done, target)

    def leg_in_node(self, *until: str) -> None:
        target = self._next_image()
        stop = (*until, "--image", target) if until else ()
        self._take(run([NODE, RESUME_IN_NODE, self.image, *stop], stdin=self._stdin), target)

    def _next_image(self) -> Path:
        return self._case.folder / f"journey-{self.moves % 2}.image"

    def _take(self, done: Finished, target: Path) -> None:
        self.out += done.out
        self._last = done
        if done.code == EXIT_SUSPENDED:
            self.image = target
            self.moves += 1
        elif done.code != 0:
            self._case.fail(f"after {self.moves} moves: {done}")


def count_polls(case: EndToEnd, module: Path, program: Program) -> int:
    """The number of polls of an undisturbed run of a module that counts them, to within a factor of two."""
    polls = 1024
    image = case.folder / "count.image"
    while True:
        done = godwit("run", module, "--suspend-after-polls", str(polls), "--image", image, "--", *program.args, stdin=program.stdin)
        if done.code != EXIT_SUSPENDED:
            return polls // 2
        polls *= 2
