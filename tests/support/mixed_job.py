"""A job whose tasks compute, read clocks and fork (guests/mixed_task.c), and what its output must be."""

import concurrent.futures
import functools
import os
import re
import subprocess
from dataclasses import dataclass

from support.harness import mobile, native
from support.programs import SOURCE_ROOT

SOURCE = SOURCE_ROOT / "tests/guests/mixed_task.c"
_LINE = re.compile(rb"task (?P<name>[\d.]+) line (?P<line>\d+): (?P<digest>[0-9a-f]{16})( real (?P<real>\d+) monotonic (?P<monotonic>\d+))?\n")
_MASK = (1 << 64) - 1


def _name_of(line: bytes) -> bytes:
    return line.split()[1]


@functools.cache
def _native_lines(task: int, arguments: tuple[str, ...]) -> tuple[bytes, ...]:
    """All lines of a task and of the threads it forks, in no order between threads."""
    environment = dict(os.environ, GODWIT_TASK=str(task))
    done = subprocess.run([native(SOURCE), *arguments], env=environment, capture_output=True, check=True)
    return tuple((done.stdout + done.stderr).splitlines(keepends=True))


class WrongOutput(AssertionError):
    pass


@dataclass(frozen=True)
class MixedJob:
    """`tasks` tasks of `lines` lines; each line is so many steps of work and a rest."""

    tasks: int
    lines: int
    steps: int
    rest_ms: int

    def words(self, workers: int, checkpoint_every: str) -> list:
        """Of the command that submits it."""
        return ["run", mobile(SOURCE), "--detach", "--workers", workers, "--tasks", self.tasks, "--checkpoint-every", checkpoint_every, "-o", "quiet",
                "--", self.steps, self.lines, self.rest_ms]

    def prepare(self) -> None:
        """Computes what check() compares with; takes about as long as the job, so it is done before the clock of a test starts."""
        mobile(SOURCE)
        native(SOURCE)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(self._expected_lines, range(self.tasks)))

    def _expected_lines(self, task: int) -> tuple[bytes, ...]:
        return () if self._reads_clocks(task) else _native_lines(task, (str(self.steps), str(self.lines), "0"))

    @staticmethod
    def _reads_clocks(task: int) -> bool:
        return task % 4 == 1

    def check(self, output: bytes) -> None:
        """Raises WrongOutput. Tasks come in their order, forked threads after them, each in one piece."""
        threads = self._split(output)
        expected: dict[bytes, list[bytes]] = {}
        for task in range(self.tasks):
            for line in self._expected_lines(task):
                expected.setdefault(_name_of(line), []).append(line)
            if self._reads_clocks(task):
                self._check_clocks(task, threads.get(b"%d" % task, []))
        for name, lines in expected.items():
            if threads.get(name) != lines:
                raise WrongOutput(f"thread {name.decode()} printed {threads.get(name)} instead of {lines}")
        named = {b"%d" % task for task in range(self.tasks)} | set(expected)
        if set(threads) != named:
            raise WrongOutput(f"threads that nobody started: {sorted(set(threads) - named)}")
        in_order = [name for name in threads if b"." not in name]
        if list(threads)[:self.tasks] != in_order or in_order != [b"%d" % task for task in range(self.tasks)]:
            raise WrongOutput(f"the threads come in the order {list(threads)}")

    @staticmethod
    def _split(output: bytes) -> dict[bytes, list[bytes]]:
        threads: dict[bytes, list[bytes]] = {}
        last = None
        for line in output.splitlines(keepends=True):
            if not _LINE.fullmatch(line):
                raise WrongOutput(f"this line is no line of a task: {line!r}")
            name = _name_of(line)
            if name != last and name in threads:
                raise WrongOutput(f"the output of thread {name.decode()} is in two pieces")
            threads.setdefault(name, []).append(line)
            last = name
        return threads

    def _check_clocks(self, task: int, lines: list[bytes]) -> None:
        """The digest of each line is that of all values printed so far, and no clock goes back."""
        if len(lines) != self.lines:
            raise WrongOutput(f"task {task} printed {len(lines)} lines instead of {self.lines}: {lines}")
        state = (0x9E3779B97F4A7C15 + task) & _MASK
        before = (0, 0)
        for number, line in enumerate(lines):
            found = _LINE.fullmatch(line)
            values = int(found["real"] or 0), int(found["monotonic"] or 0)
            for value in values:
                state = ((state ^ value) * 0x100000001B3) & _MASK
            if int(found["line"]) != number or int(found["digest"], 16) != state:
                raise WrongOutput(f"task {task} has read another time than it printed, at {line!r}, in {lines}")
            if values[0] < before[0] or values[1] < before[1]:
                raise WrongOutput(f"a clock of task {task} went back, at {line!r}, in {lines}")
            before = values
