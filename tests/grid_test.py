"""Jobs over daemons on three hosts, of which any may be killed: the result is that of an undisturbed run, once."""

import os
import subprocess
import unittest

from support.grid import PATIENCE_SECONDS, Grid, Peer, adopt_orphans, cpu_seconds, wait_until
from support.harness import SCALE, EndToEnd, mobile, native, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/array_task.c"
SLOW_CAT = SOURCE_ROOT / "tests/guests/slow_cat.c"
PROBE = SOURCE_ROOT / "tests/guests/cli_probe.c"
TASKS = 60
STEPS, LINES = 8_000_000, 4  # of a task: about a tenth of a second
LONG_STEPS = STEPS if SCALE == 1 else 30 * STEPS
LONG_LINES = 60  # of the long task: some 2 s, in soak half a minute
KILLS = 2 if SCALE == 1 else 5


def expected_output(tasks: int, *args: int) -> bytes:
    """What the tasks print natively, one after the other."""
    out = b""
    for task in range(tasks):
        environment = dict(os.environ, GODWIT_TASK=str(task), GODWIT_TASKS=str(tasks))
        out += subprocess.run([native(TASK), *map(str, args)], env=environment, capture_output=True, check=True).stdout
    return out


class GridTest(EndToEnd):
    def start_grid(self) -> Grid:
        self.grid = Grid(self, peers=3, slots=2)
        self.home = self.grid.peers[0]
        return self.grid

    def submit(self, tasks: int, *args: int) -> str:
        """Hands a job to the first peer and leaves it there; its id."""
        words = self.home.command("run", mobile(TASK), "--detach", "--workers", 6, "--tasks", tasks, "--checkpoint-every", "200ms", "-o", "quiet",
                                  "--", *args)
        return run(words, check=True).out.decode().strip()

    def show(self, job: str) -> dict:
        return self.home.asked("job", "show", job)

    def assert_right(self, job: str, expected: bytes) -> dict:
        wait_until(f"job {job} is over", lambda: self.show(job)["state"] != "running", self.grid.logs)
        shown = self.show(job)
        context = f"{shown}\n{self.grid.logs()}"
        self.assertEqual(shown["state"], "done", context)
        self.assertEqual(self.home.ask("job", "wait", job).code, 0, context)
        self.assert_output(self.home.ask("job", "logs", job).out, expected, context)
        return shown

    def test_any_host_may_die(self):
        expected = expected_output(TASKS, STEPS, LINES)
        grid = self.start_grid()
        for victim in (grid.peers[1], grid.peers[2], self.home):
            with self.subTest(victim=victim.name):
                job = self.submit(TASKS, STEPS, LINES)
                wait_until("a third of the tasks is done", lambda: self.show(job)["ended"] >= TASKS // 3, grid.logs)
                victim.kill()
                if victim is self.home:
                    victim.start()
                shown = self.assert_right(job, expected)
                self.assertEqual((shown["threads"], shown["ended"]), (TASKS, TASKS))
                if victim is not self.home:
                    victim.start()
                wait_until("all peers are back", lambda: grid.alive(self.home) == 3, grid.logs)

    def test_standard_input_reaches_the_program_once(self):
        """The command reads a file as the program wants it, while home and hosts are killed."""
        content = b"".join(b"line %d\n" % number for number in range(60_000))
        (self.folder / "lines").write_bytes(content)
        grid = self.start_grid()
        words = self.home.command("run", mobile(SLOW_CAT), "--workers", 1, "--checkpoint-every", "200ms", "--stdin", self.folder / "lines")
        shown = self.folder / "shown"
        with shown.open("wb") as out:
            command = subprocess.Popen([str(word) for word in words], stdout=out, stderr=subprocess.PIPE)
        self.addCleanup(command.kill)
        for part, victim in enumerate((self.home, *grid.peers[1:], self.home), start=1):
            size = len(content) * part // 6
            wait_until(f"{size} bytes are there", lambda: shown.stat().st_size >= size or command.poll() is not None, grid.logs)
            victim.kill()
            victim.start()
        _, errors = command.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(command.returncode, 0, f"{errors}\n{grid.logs()}")
        self.assert_output(shown.read_bytes(), content, grid.logs())

    def test_output_files_can_be_fetched_again(self):
        """Also when the command that was to place them has gone, with `job files`."""
        content = os.urandom((1 << 20) + 5)
        (self.folder / "in").write_bytes(content)
        grid = self.start_grid()
        words = self.home.command("run", mobile(PROBE), "--workers", 1, "--input", f"{self.folder}/in:/in", "--output",
                                  f"{self.folder}/out:/result", "--", "copy", "/in", "/result")
        done = run(words)
        self.assertEqual(done.code, 0, f"{done}\n{grid.logs()}")
        job = self.home.asked("job", "list")["jobs"][0]["id"]
        for host in ("first", "second"):
            fetched = self.home.asked("job", "files", job, "--output", f"{self.folder}/{host}:/result")
            self.assertEqual(fetched["files"], ["result"])
            self.assertEqual((self.folder / host).read_bytes(), content)
        refused = self.home.ask("job", "files", job, "--output", f"{self.folder}/third:/else")
        self.assertNotEqual(refused.code, 0, refused)

    def test_a_long_task_goes_on_from_its_last_image(self):
        adopt_orphans()
        for longer in (1, 4, 16):  # until the task is long for this machine: an image is made, and seen to be, before each kill
            args = (longer * LONG_STEPS, LONG_LINES)
            expected = expected_output(1, *args)
            disturbed, restarted = self.cpu_of_long_task(expected, args, kills=KILLS)
            if restarted == 0:
                break
        self.assertEqual(restarted, 0, self.grid.logs())
        undisturbed, _ = self.cpu_of_long_task(expected, args, kills=0)
        print(f"{KILLS} kills: {disturbed:.1f} CPU seconds instead of {undisturbed:.1f}, daemons and workers")

    def cpu_of_long_task(self, expected: bytes, args: tuple[int, int], kills: int) -> tuple[float, int]:
        """Also how often it began anew, or was over before a kill."""
        before = cpu_seconds()
        grid = self.start_grid()
        job = self.submit(1, *args)
        missed = 0
        for kill in range(1, kills + 1):
            lines = LONG_LINES * kill // (kills + 1)
            wait_until(f"{lines} lines are there", lambda: self.home.ask("job", "logs", job).out.count(b"\n") >= lines, grid.logs)
            host = self.host_of(job)
            if host is None:
                missed += 1
                continue
            host.kill()
            host.start()
        shown = self.assert_right(job, expected)
        for peer in grid.peers:
            peer.stop()
        return cpu_seconds() - before, shown["restarted"] + missed

    def host_of(self, job: str) -> Peer | None:
        """The peer that runs the job's only thread now; none: the job is over."""
        by_id = {peer.asked("peer", "list")["peers"][0]["id"]: peer for peer in self.grid.peers}
        found: list[Peer] = []

        def is_somewhere_or_over() -> bool:
            shown = self.show(job)
            found[:] = [by_id[row["id"]] for row in shown["peers"] if row["running"] > 0]
            return bool(found) or shown["state"] != "running"

        wait_until("the thread runs somewhere", is_somewhere_or_over, self.grid.logs)
        return found[0] if found else None


if __name__ == "__main__":
    unittest.main()
