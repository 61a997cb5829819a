"""Where jobs run: requirements (--need), places (--place), near machines before far ones, and what peers know of each other's strength."""

import collections
import json
import tempfile
import unittest
from pathlib import Path

from support.grid import FarNetwork, Grid, Peer, wait_until
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
        wait_until("the reason of the job has the best of all machines", lambda: any(
            wait["reason"] == "needs_not_met" and "the largest of 3 machines lends" in wait["detail"]
            for wait in json.loads(told())["waits"]), lambda: f"{told()}\n{self.grid.logs()}")
        self.assertEqual(self.home.job(job)["running"], 0)
        self.assertEqual(self.home.ask("job", "cancel", job).code, 0)

    def test_a_wrong_option_is_refused_with_what_to_write(self):
        for words, told in ((("--need", "cores=2"), "memory, disk, speed, arch and tag are known"),
                            (("--place", "far"), "near, hash, spread")):
            done = self.home.ask("run", mobile(TASK), "--workers", 2, *words)
            self.assertEqual(done.code, 2, done)
            self.assertIn(told, done.err)

    def slots_of(self, job: str) -> dict:
        return {peer["id"]: peer["slots"] for peer in self.home.job(job)["peers"] if peer["slots"] > 0}

    def test_a_job_is_spread_over_all_machines(self):
        for peer in self.grid.peers:
            self.assertEqual(peer.ask("share", "--cores", 2).code, 0)
        everywhere = {peer.node()["id"]: 1 for peer in self.grid.peers}
        wait_until("two slots of each are known", lambda: all(
            row["slots"] == 2 for peer in self.grid.peers for row in peer.peers()), self.grid.logs)
        job = self.submit("--tasks", 2000, "--workers", 3, "--place", "spread")
        wait_until("each machine has lent one slot", lambda: self.slots_of(job) == everywhere,
                   lambda: f"{self.home.job(job)}\n{self.grid.logs()}")
        self.assertEqual(self.home.ask("job", "cancel", job).code, 0)

    def test_a_job_is_placed_by_hash(self):
        shown = self.ended(self.submit("--tasks", 30, "--workers", 2, "--place", "hash"))
        self.assertEqual((shown["state"], shown["ended"], shown["place"]), ("done", 30, "hash"), shown)

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


class FarPlacementTest(EndToEnd):
    """A home that lends nothing, a machine near it, and two far away."""

    NEAR_MS, FAR_MS = 1, 80
    MACHINES = 4
    JOBS = 5

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="gw-far-")
        self.addCleanup(folder.cleanup)
        network = FarNetwork(self.MACHINES)
        self.addCleanup(network.close)
        network.link("*", "*", self.FAR_MS)
        network.link(1, 2, self.NEAR_MS)
        self.peers = []
        for number in range(1, self.MACHINES + 1):
            peer = Peer(network, Path(folder.name), number, 1, join=None if number == 1 else 1)
            self.peers.append(peer)
            self.addCleanup(peer.stop)
            peer.start()
        self.home, self.near = self.peers[:2]
        self.assertEqual(self.home.ask("share", "--cores", 0).code, 0)

    def logs(self) -> str:
        return "\n".join(peer.last_words() for peer in self.peers)

    def distances_are_known(self) -> bool:
        rows = {row["id"]: row["distance_us"] for row in self.home.peers() if row["state"] != "self"}
        near = rows.pop(self.near.node()["id"], None)
        return near is not None and all(rows.values()) and len(rows) >= self.MACHINES - 2 and near < 250 * self.FAR_MS and min(rows.values()) > 1000 * self.FAR_MS

    def test_the_near_machine_is_taken_before_the_far_ones(self):
        """A near machine that does not answer for a while is passed over, so not every job need be there."""
        wait_until("home knows who is near", self.distances_are_known, self.logs)
        finished = collections.Counter()
        for _ in range(self.JOBS):
            command = self.home.command("run", mobile(TASK), "--detach", "-o", "quiet", "--tasks", 6, "--workers", 1, "--", TASK_MS)
            job = run(command, check=True).out.decode().strip()
            wait_until("the job is over", lambda job=job: self.home.job(job)["state"] != "running", self.logs)
            finished.update({peer["id"]: peer["finished"] for peer in self.home.job(job)["peers"]})
        self.assertEqual(finished.total(), 6 * self.JOBS)
        self.assertGreater(finished[self.near.node()["id"]], 6 * self.JOBS / 2, f"{finished}\n{self.logs()}")


if __name__ == "__main__":
    unittest.main()
