"""Requirements of a job (--need), as lenders answer them, and what peers know of each other's strength."""

import json
import unittest

from support.grid import Grid, wait_until
from support.harness import EndToEnd, mobile, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/spin_for.c"
TASK_MS = 20
INPUT_BYTES = 4 << 20  # enough to measure the network


class PlacementTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=3, slots=1)
        self.home, self.second, self.third = self.grid.peers
        for peer in self.grid.peers:
            wait_until("its speed is measured", lambda peer=peer: peer.node()["capacity"]["speed"] > 0, peer.last_words)

    def submit(self, *words) -> str:
        command = self.home.command("run", mobile(TASK), "--detach", "-o", "quiet", *words, "--", TASK_MS)
        return run(command, check=True).out.decode().strip()

    def ended(self, job: str) -> dict:
        wait_until("the job is over", lambda: self.home.job(job)["state"] != "running", self.grid.logs)
        return self.home.job(job)

    def test_a_job_runs_only_where_its_needs_are_met(self):
        self.assertEqual(self.third.ask("share", "--tag", "gpu").code, 0)
        self.assertEqual(self.third.node()["share"]["tags"], ["gpu"])
        shown = self.ended(self.submit("--tasks", 20, "--need", "tag=gpu,memory=1M,speed=0.001"))
        self.assertEqual((shown["state"], shown["ended"], shown["needs"]), ("done", 20, "memory=1M,speed=0.001,tag=gpu"), shown)
        worked = [peer["id"] for peer in shown["peers"] if peer["finished"] > 0]
        self.assertEqual(worked, [self.third.node()["id"]], shown)

    def test_a_job_that_fits_nowhere_waits_and_says_what_each_machine_lacks(self):
        job = self.submit("--tasks", 3, "--need", "memory=900G")
        told = lambda: json.dumps(self.home.asked("job", "explain", job))
        for peer in self.grid.peers:
            wait_until("every machine has refused", lambda peer=peer: any(
                one["peer"] == peer.node()["id"] and "needs 900 GiB of memory per slot, this peer lends " in one["sentence"]
                for one in json.loads(told())["failures"]), lambda: f"{told()}\n{self.grid.logs()}")
        self.assertEqual(self.home.job(job)["running"], 0)
        self.assertEqual(self.home.ask("job", "cancel", job).code, 0)

    def test_a_wrong_option_is_refused_with_what_to_write(self):
        done = self.home.ask("run", mobile(TASK), "--workers", 2, "--need", "cores=2")
        self.assertEqual(done.code, 2, done)
        self.assertIn("memory, disk, speed, arch and tag are known", done.err)

    def test_peers_know_each_others_strength(self):
        data = self.folder / "data"
        data.write_bytes(bytes(range(256)) * (INPUT_BYTES // 256))
        self.ended(self.submit("--tasks", 30, "--workers", 3, "--input", data))
        speeds = {row["id"]: row["capacity"] for row in self.home.peers() if row["capacity"]}
        for peer in (self.second, self.third):
            own = peer.node()
            self.assertIn(own["id"], speeds)
            self.assertAlmostEqual(speeds[own["id"]]["speed"], own["capacity"]["speed"], delta=own["capacity"]["speed"])
            self.assertEqual(speeds[own["id"]]["arch"], own["capacity"]["arch"])
            shown = self.home.ask("peer", "show", own["id"][:12])
            self.assertIn("speed ", shown.out.decode(), shown)


if __name__ == "__main__":
    unittest.main()
