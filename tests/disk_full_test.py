"""A disk becomes full under a daemon that is home, or host and keeper, of a running job. It lives, says so, takes nothing new, and when there
is room again the job ends with the right output."""

import time
import unittest

from support.grid import Grid, Peer, wait_until
from support.harness import SCALE, EndToEnd, run
from support.mixed_job import MixedJob

PEERS, SLOTS, DISK_MIB = 3, 2, 96
JOB = MixedJob(tasks=12, lines=12, steps=4_000_000, rest_ms=150)
FULL_SECONDS = 4 if SCALE == 1 else 60


class DiskFullTest(EndToEnd):
    def setUp(self):
        super().setUp()
        JOB.prepare()
        self.grid = Grid(self, peers=PEERS, slots=SLOTS, disk_mib=DISK_MIB)
        self.home = self.grid.peers[0]

    def test_at_home(self):
        self.run_with_full_disk(self.home)

    def test_at_a_host_and_keeper(self):
        self.run_with_full_disk(self.grid.peers[1])

    def submit(self, peer: Peer) -> list[str]:
        return peer.command(*JOB.words(workers=PEERS * SLOTS, checkpoint_every="300ms"))

    def run_with_full_disk(self, victim: Peer) -> None:
        job = run(self.submit(self.home), check=True).out.decode().strip()
        wait_until("a part of the tasks is done", lambda: self.home.job(job)["ended"] >= 2, self.grid.logs)
        victim.disk.fill()
        until = time.monotonic() + FULL_SECONDS
        while time.monotonic() < until:
            for peer in self.grid.peers:
                peer.check_alive()
            time.sleep(0.2)
        self.assert_nothing_new_is_taken(victim)
        wait_until("status says that the disk is full", lambda: "full" in victim.ask("status").out.decode(), victim.last_words)
        victim.disk.make_room()
        wait_until("the job is over", lambda: self.home.job(job)["state"] != "running", self.grid.logs)
        shown = self.home.job(job)
        self.assertEqual(shown["state"], "done", f"{shown}\n{self.grid.logs()}")
        JOB.check(self.home.output(job))

    def assert_nothing_new_is_taken(self, victim: Peer) -> None:
        refused = run(self.submit(victim))
        self.assertNotEqual(refused.code, 0, "a job was taken although the disk is full")
        self.assertRegex(refused.err, r"godwit: .*(full|disk|space)")


if __name__ == "__main__":
    unittest.main()
