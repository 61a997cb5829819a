"""Peers that cannot do their part of an array: too little memory, a worker that does not start, a full disk, a tenth of the speed, workers
that take tasks and never answer. No task fails or is lost, and `job explain` or `doctor` says what is wrong with each.

`make soak` measures how long each of them delays a job, against the same job without it.
"""

import contextlib
import json
import os
import shutil
import signal
import threading
import time
import unittest
from pathlib import Path

from support.grid import WORKER, Grid, Peer, wait_until
from support.harness import GODWIT, SCALE, EndToEnd, mobile, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/spin_for.c"
TASKS = 60 if SCALE == 1 else 400
TASK_MS = 20 if SCALE == 1 else 50
MOST_DELAY_SECONDS = 2
RUNS = 3  # of each job whose time is measured; the fastest counts
DISK_MIB = 96


class FrozenWorkers:
    """Every worker of a peer stops as soon as it is seen, while its daemon goes on: it takes tasks and never answers."""

    def __init__(self, peer: Peer):
        self._peer = peer
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._freeze)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self._peer.resume()

    def _freeze(self) -> None:
        while not self._over.wait(0.005):
            for pid in self._peer.workers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)


class BrokenPeersTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=3, slots=1, disk_mib=DISK_MIB)
        self.home, self.honest, self.broken = self.grid.peers
        self.run_job()  # the others have the code

    def submit(self, *options) -> str:
        words = self.home.command("run", mobile(TASK), "--detach", "-o", "quiet", "--tasks", TASKS, "--memory", "64M", *options, "--", TASK_MS)
        return run(words, check=True).out.decode().strip()

    def wait_done(self, job: str) -> dict:
        wait_until("the job is over", lambda: self.home.job(job)["state"] != "running", self.grid.logs)
        shown = self.home.job(job)
        self.assertEqual((shown["state"], shown["ended"], shown["failed"]), ("done", TASKS, 0), f"{shown}\n{self.grid.logs()}")
        return shown

    def run_job(self, *options) -> float:
        """Seconds."""
        begun = time.monotonic()
        self.wait_done(self.submit(*options))
        return time.monotonic() - begun

    def measure_delay(self, what: str, *options) -> None:
        """Against the same job without the broken peer, which is then killed."""
        if SCALE == 1:  # beside other tests it takes as long as it takes
            self.run_job(*options)
            return
        with_it = min(self.run_job(*options) for _ in range(RUNS))
        self.broken.resume()
        self.broken.kill()
        wait_until("the others know", lambda: self.grid.alive(self.home) == 2, self.grid.logs)
        without = min(self.run_job(*options) for _ in range(RUNS))
        print(f"{what}: {with_it:.2f} s with it, {without:.2f} s without it")
        self.assertLess(with_it - without, MOST_DELAY_SECONDS)

    def assert_explained(self, job: str, sentence: str) -> None:
        told = lambda: json.dumps(self.home.asked("job", "explain", job))
        wait_until(f"the reason is shown: {sentence}", lambda: sentence in told(), lambda: f"{told()}\n{self.grid.logs()}")

    def test_too_little_memory(self):
        self.assertEqual(self.broken.ask("share", "--memory", "64M").code, 0)
        job = self.submit("--need", "memory=100M")
        self.assert_explained(job, "needs 100 MiB of memory per slot, this peer lends 64 MiB")
        self.wait_done(job)
        self.measure_delay("too little memory", "--need", "memory=100M")

    def test_workers_that_cannot_start(self):
        folder = self.folder / "bin"
        shutil.copytree(Path(GODWIT).parent, folder, symlinks=True)
        (folder / WORKER).unlink()
        (folder / WORKER).write_text("#!/bin/sh\necho 'error while loading shared libraries: libuv.so.1' >&2\nexit 127\n")
        (folder / WORKER).chmod(0o755)
        self.broken.kill()
        self.broken.program = folder / "godwit"
        self.broken.start()
        wait_until("it is back", lambda: self.grid.alive(self.home) == 3, self.grid.logs)
        wait_until("its owner is told", lambda: "workers cannot start: error while loading shared libraries: libuv.so.1"
                   in self.broken.ask("doctor").out.decode(), self.broken.last_words)
        job = self.submit()
        self.assert_explained(job, "its workers cannot start: error while loading shared libraries: libuv.so.1")
        self.wait_done(job)
        self.measure_delay("workers that cannot start")

    def test_a_full_disk(self):
        self.broken.disk.fill()
        wait_until("it says so", lambda: self.broken.node()["storage"]["full"], self.broken.last_words)
        job = self.submit()
        self.assert_explained(job, "its disk is full")
        self.wait_done(job)
        self.assertIn("the disk is full", self.broken.ask("doctor").out.decode())
        self.measure_delay("a full disk")
        self.broken.disk.make_room()

    def test_a_tenth_of_the_speed(self):
        self.assertEqual(self.broken.ask("share", "--cpu", "10%").code, 0)
        fast, slow = (peer.node()["capacity"]["speed"] for peer in (self.honest, self.broken))
        self.assertLess(slow, fast / 2, "it says so in its offers")
        self.measure_delay("a tenth of the speed")

    def test_tasks_that_are_taken_and_never_answered(self):
        with FrozenWorkers(self.broken):
            self.measure_delay("taken and never answered")


if __name__ == "__main__":
    unittest.main()
