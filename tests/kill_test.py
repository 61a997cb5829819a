"""A program with checkpoints is killed with SIGKILL again and again, with everything that belongs to it, and continued each time.

Its output files and its recorded standard output must be those of an undisturbed run, byte by byte: nothing lost, nothing twice.
"""

import os
import random
import signal
import subprocess
import time
import unittest
from pathlib import Path

from support.harness import EXIT_SUSPENDED, GODWIT, SCALE, SCRATCH, EndToEnd, godwit, mobile
from support.programs import SOURCE_ROOT

GUEST = SOURCE_ROOT / "tests/guests/kill_target.c"
STEPS = "300"
LONGEST_LIFE_SECONDS = 1.2  # until the kill; a quarter of the kills come in the first tenth of it
USUAL_LIVES = 40  # of one run; lives become longer after them, since a busy machine may make no progress in short ones
SOAK_KILLS = 200
SECONDS = 40  # in `make test`


def children_of(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


class Killed(EndToEnd):
    def setUp(self):
        super().setUp()
        (self.folder / "input").write_bytes(random.Random(1).randbytes(200_000))
        self.module = mobile(GUEST)
        self.rng = random.Random(int(os.environ.get("GODWIT_SEED", "4")))
        self.lives = 0  # of the run that goes on

    def words(self, name: str) -> list:
        folder = self.folder / name
        folder.mkdir()
        return ["run", self.module, "--input", f"{self.folder / 'input'}:/input", "--output", f"{folder / 'out'}:/out", "--seed", "1",
                "--checkpoint-every", "200ms", "--image", folder / "job.gwi", "--", STEPS]

    def result(self, name: str) -> dict[str, bytes]:
        folder = self.folder / name
        files = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
        files["(stdout)"] = godwit("image", "output", folder / "job.gwi", check=True).out
        return files

    def live_and_die(self, words: list) -> int | None:
        """Runs the command until it ends or its time is up; returns its exit code, None if it was killed."""
        longest = LONGEST_LIFE_SECONDS * (0.1 if self.rng.random() < 0.25 else 1) * max(1, self.lives / USUAL_LIVES)
        self.lives += 1
        environment = dict(os.environ, XDG_CACHE_HOME=str(SCRATCH / "cache"))
        command = subprocess.Popen([str(word) for word in [GODWIT, *words]], env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        try:
            _, errors = command.communicate(timeout=self.rng.random() * longest)
            self.assertIn(command.returncode, (0,), errors)
            return command.returncode
        except subprocess.TimeoutExpired:
            # The worker has a session of its own; half of the time it is killed first.
            victims = [*children_of(command.pid), command.pid]
            for pid in victims if self.rng.random() < 0.5 else reversed(victims):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            command.communicate()
            return None

    def run_with_kills(self, name: str) -> int:
        words = self.words(name)
        journal = self.folder / name / "job.gwi"
        started = False
        kills = self.lives = 0
        while self.live_and_die(["resume", journal, "--allow-files"] if started else words) is None:
            kills += 1
            started = journal.exists()  # else it was killed before it had begun
        return kills

    def test_nothing_is_lost_and_nothing_comes_twice(self):
        godwit(*self.words("calm"), check=True)
        expected = self.result("calm")
        self.assertGreater(len(expected["(stdout)"]), 1000)
        end = time.monotonic() + SECONDS
        kills = runs = 0
        while kills < SOAK_KILLS if SCALE > 1 else time.monotonic() < end and runs < 2:
            kills += self.run_with_kills(f"killed-{runs}")
            got = self.result(f"killed-{runs}")
            self.assertEqual(sorted(got), sorted(expected))
            for name, content in expected.items():
                self.assert_output(got[name], content, f"{name} after {kills} kills")
            runs += 1
        print(f"{kills} kills in {runs} runs")
        self.assertGreater(kills, 5, "the program ended too early to say anything")


class StandardInput(Killed):
    """What a file gives a program reaches it once, whatever happens in between."""

    def setUp(self):
        super().setUp()
        self.content = b"".join(b"line %d\n" % number for number in range(40_000))
        (self.folder / "lines").write_bytes(self.content)
        self.module = mobile(SOURCE_ROOT / "tests/guests/slow_cat.c")

    def test_nothing_is_lost_and_nothing_comes_twice(self):
        journal = self.folder / "job.gwi"
        words = ["run", self.module, "--stdin", self.folder / "lines", "--checkpoint-every", "100ms", "--image", journal]
        kills = 0
        while self.live_and_die(["resume", journal, "--allow-files"] if journal.exists() else words) is None:
            kills += 1
        self.assertGreater(kills, 1, "the program ended too early to say anything")
        self.assert_output(godwit("image", "output", journal, check=True).out, self.content, f"after {kills} kills")

    @staticmethod
    def leg(moves: int) -> str:
        """Longer after many moves, since a busy machine may make no progress in a short leg."""
        return f"{max(300, 15 * moves)}ms"

    def test_a_suspended_program_reads_on(self):
        images = [self.folder / "a.gwi", self.folder / "b.gwi"]
        done = godwit("run", self.module, "--stdin", self.folder / "lines", "--suspend-after", self.leg(0), "--image", images[0])
        out = done.out
        moves = 0
        while done.code == EXIT_SUSPENDED:
            # Named again or not: it is the same file.
            again = ("--stdin", self.folder / "lines") if moves % 2 else ("--allow-files",)
            done = godwit("resume", images[moves % 2], *again, "--suspend-after", self.leg(moves), "--image", images[(moves + 1) % 2])
            out += done.out
            moves += 1
        self.assertEqual(done.code, 0, done)
        self.assertGreater(moves, 1)
        self.assert_output(out, self.content, f"after {moves} moves")


if __name__ == "__main__":
    unittest.main()
