"""Runs the godwit command and native builds of guests for the end-to-end tests.

The test's environment says where things are: GODWIT is the command under test, GODWIT_SCRATCH a folder that may be kept between runs
(builds of guests are cached there by content), GODWIT_SCALE multiplies the amount of random testing (1 in `make test`, more in `make soak`).
"""

import atexit
import functools
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

from support.programs import SOURCE_ROOT, Program

GODWIT = Path(os.environ.get("GODWIT", SOURCE_ROOT / "build/bin/godwit"))
SCRATCH = Path(os.environ.get("GODWIT_SCRATCH", SOURCE_ROOT / "build/e2e"))
SCALE = int(os.environ.get("GODWIT_SCALE", "1"))
NODE = os.environ.get("GODWIT_NODE", "node")

EXIT_SUSPENDED = 75
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
TIMEOUT_SECONDS = 600


@dataclass
class Finished:
    """What a process left behind."""

    command: list[str]
    code: int
    out: bytes
    err: str

    def __str__(self) -> str:
        return f"{' '.join(self.command)} -> exit {self.code}\n{self.err[-2000:]}"


def environment() -> dict[str, str]:
    return dict(os.environ, XDG_CACHE_HOME=str(SCRATCH / "cache"))


def run(command: list, stdin=b"", check: bool = False, folder=None, timeout: float = TIMEOUT_SECONDS) -> Finished:
    """Runs a command, in `folder` if given; `stdin` is bytes or an open file, whose position the processes share."""
    words = [str(word) for word in command]
    source = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    done = subprocess.run(words, capture_output=True, timeout=timeout, env=environment(), cwd=folder, check=False, **source)
    finished = Finished(words, done.returncode, done.stdout, done.stderr.decode(errors="replace"))
    if check and finished.code != 0:
        raise AssertionError(str(finished))
    return finished


def run_until_it_prints(command: list, number: signal.Signals, stdin=subprocess.DEVNULL, folder=None) -> Finished:
    """Runs a command and sends it a signal when the first byte of its output has come. `stdin` is an open file."""
    words = [str(word) for word in command]
    # Without a buffer: communicate() would miss what a buffered read has taken from the pipe.
    with subprocess.Popen(words, bufsize=0, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment()) as process:
        try:
            first = process.stdout.read(1)
            process.send_signal(number)
            rest, errors = process.communicate(timeout=TIMEOUT_SECONDS)
        except BaseException:
            process.kill()
            raise
    return Finished(words, process.returncode, first + rest, errors.decode(errors="replace"))


def godwit(*words, stdin=b"", check: bool = False) -> Finished:
    return run([GODWIT, *words], stdin=stdin, check=check)


def _key(source: Path, flags: tuple[str, ...] = ()) -> str:
    """Names a build by its inputs: the source, the headers beside and above it, the flags."""
    digest = hashlib.sha256("\0".join(flags).encode())
    for path in [source, *sorted([*source.parent.glob("*.h"), *source.parent.parent.glob("*.h")])]:
        digest.update(path.read_bytes())
    return f"{source.stem}-{digest.hexdigest()[:16]}"


def native(source: Path) -> Path:
    """The program built for this machine: what every other run of it is compared with. Kept between runs of the tests."""
    folder = SCRATCH / "native"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / _key(source)
    if not target.exists():
        compiler = ["clang-19", "-std=c17"] if source.suffix == ".c" else ["clang++-19", "-std=c++20"]
        building = target.with_name(f"{target.name}.{os.getpid()}")
        run([*compiler, "-O3", "-w", "-pthread", source, "-o", building, "-lm"], check=True)
        building.rename(target)
    return target


@functools.cache
def _module_folder() -> Path:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="modules-", dir=SCRATCH)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def mobile(source: Path, *flags: str) -> Path:
    """The program built by `godwit build`. Kept for this test only: the builder may have changed since, and has a cache of its own."""
    target = _module_folder() / f"{_key(source, flags)}.wasm"
    if not target.exists():
        godwit("build", source, "--output", target, *flags, check=True)
    return target


def native_output(program: Program) -> bytes:
    return run([native(program.source), *program.args], stdin=program.stdin, check=True).out


def show(image: Path) -> dict:
    return json.loads(godwit("image", "show", image, "-o", "json", check=True).out)


class EndToEnd(unittest.TestCase):
    """A test case with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="godwit-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def stdin_of(self, program: Program):
        """The program's input as a file that several processes read one after the other."""
        path = self.folder / "stdin"
        path.write_bytes(program.stdin)
        source = path.open("rb")
        self.addCleanup(source.close)
        return source

    def assert_output(self, got: bytes, expected: bytes, context: str):
        if got == expected:
            return
        at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
        self.fail(f"{context}: {len(got)} bytes instead of {len(expected)}, different from byte {at}: "
                  f"{got[at:at + 60]!r} instead of {expected[at:at + 60]!r}")
