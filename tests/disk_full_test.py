"""A disk becomes full under a daemon that is home, host or keeper of a running job. It lives, says so, takes nothing new, starts again, and
forgets jobs when told to; when there is room again the job ends with the right output.

`make test` does so at home, `make soak` in each role.
"""

import time
import unittest

from support.grid import Grid, Peer, wait_until
from support.harness import SCALE, EndToEnd, mobile, run
from support.mixed_job import MixedJob
from support.programs import SOURCE_ROOT

PEERS, SLOTS, DISK_MIB = 3, 2, 96
JOB = MixedJob(tasks=12, lines=12, steps=4_000_000, rest_ms=600)
FULL_SECONDS = 4 if SCALE == 1 else 60
SOAK = unittest.skipIf(SCALE == 1, "in make soak")


class DiskFullTest(EndToEnd):
    def setUp(self):
        super().setUp()
        JOB.prepare()
        self.grid = Grid(self, peers=PEERS, slots=SLOTS, disk_mib=DISK_MIB)
        self.home = self.grid.peers[0]

    def test_at_home(self):
        self.run_with_full_disk(self.home)

    @SOAK
    def test_at_a_host(self):
        self.run_with_full_disk(self.grid.peers[1])

    @SOAK
    def test_at_a_keeper(self):
        keeper = self.grid.peers[2]
        self.assertEqual(keeper.ask("share", "--cores", 0).code, 0)
        self.run_with_full_disk(keeper)

    def submit(self, peer: Peer) -> list[str]:
        return peer.command(*JOB.words(workers=PEERS * SLOTS, checkpoint_every="300ms"))

    def run_with_full_disk(self, victim: Peer) -> None:
        finished = self.run_small_job(victim)
        job = run(self.submit(self.home), check=True).out.decode().strip()
        wait_until("a part of the tasks is done", lambda: self.home.job(job)["ended"] >= 2, self.grid.logs)
        victim.disk.fill()
        self.watch(FULL_SECONDS / 2)
        wait_until("status says that the disk is full", lambda: b"disk is full" in victim.ask("status").out, victim.last_words)
        self.assertIn(b"disk is full", victim.ask("doctor").out)
        self.assert_nothing_new_is_taken(victim)
        victim.kill()
        victim.start()
        wait_until("it says so after a restart too", lambda: victim.node()["storage"]["full"], victim.last_words)
        self.watch(FULL_SECONDS / 2)
        self.assert_forgets(victim, finished)
        victim.disk.make_room()
        wait_until("there is room", lambda: not victim.node()["storage"]["full"], victim.last_words)
        wait_until("the job is over", lambda: self.home.job(job)["state"] != "running", self.grid.logs)
        shown = self.home.job(job)
        self.assertEqual(shown["state"], "done", f"{shown}\n{self.grid.logs()}")
        JOB.check(self.home.output(job))

    def watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for peer in self.grid.peers:
                peer.check_alive()
            time.sleep(0.2)

    @staticmethod
    def run_small_job(peer: Peer) -> str:
        module = mobile(SOURCE_ROOT / "tests/guests/many_lines.c")
        words = peer.command("run", module, "--detach", "--workers", 1, "--checkpoint-every", "off", "-o", "quiet", "--", 1, 100)
        job = run(words, check=True).out.decode().strip()
        wait_until("the small job is over", lambda: peer.job(job)["state"] == "done", peer.last_words)
        return job

    def assert_nothing_new_is_taken(self, victim: Peer) -> None:
        refused = run(self.submit(victim))
        self.assertNotEqual(refused.code, 0, "a job was taken although the disk is full")
        self.assertRegex(refused.err, r"godwit: .*disk .*full")

    def assert_forgets(self, victim: Peer, finished: str) -> None:
        """A full disk can be freed through the daemon."""
        done = victim.ask("job", "prune", "--all")
        self.assertEqual(done.code, 0, done.err)
        self.assertNotIn(finished, [row["id"] for row in victim.get("/v1/jobs")["jobs"]])
        self.assertFalse((victim.state / "jobs" / finished).exists())


if __name__ == "__main__":
    unittest.main()
