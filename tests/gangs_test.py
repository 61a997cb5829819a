"""Jobs that need several workers at once (--min-workers), and what becomes of a job that loses a machine (--on-failure)."""

import json
import unittest

from support.grid import Grid, wait_until
from support.harness import EndToEnd, mobile, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/spin_for.c"
LONG_MS = 10_000_000  # until it is cancelled
SHORT_MS = 20


class GangsTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=3, slots=1)
        self.home, self.second, self.third = self.grid.peers

    def submit(self, at, milliseconds: int, *words) -> str:
        command = at.command("run", mobile(TASK), "--detach", "-o", "quiet", *words, "--", milliseconds)
        return run(command, check=True).out.decode().strip()

    def wait_running(self, at, job: str, workers: int) -> None:
        wait_until(f"{workers} workers run", lambda: at.job(job)["running"] == workers, lambda: f"{at.job(job)}\n{self.grid.logs()}")

    def ended(self, at, job: str) -> dict:
        wait_until("the job is over", lambda: at.job(job)["state"] != "running", self.grid.logs)
        return at.job(job)

    def explained(self, at, job: str, *parts: str) -> None:
        told = lambda: json.dumps(at.asked("job", "explain", job))
        wait_until(f"it says {parts}", lambda: all(part in told() for part in parts), lambda: f"{told()}\n{self.grid.logs()}")

    def test_gangs_that_compete_run_one_after_the_other(self):
        first = self.submit(self.home, LONG_MS, "--workers", 2, "--min-workers", 2, "--tasks", 2)
        self.wait_running(self.home, first, 2)
        gang = ("--workers", 3, "--min-workers", 2, "--tasks", 6)
        others = [(peer, self.submit(peer, SHORT_MS, *gang)) for peer in (self.second, self.third)]
        for peer, job in others:
            self.explained(peer, job, "gang_waits", "it needs 2 slots at once to begin, has ", "the grid offers 3 in all")
            self.assertEqual((peer.job(job)["running"], peer.job(job)["ended"]), (0, 0), "one slot is not enough")
        self.assertEqual(self.home.ask("job", "cancel", first).code, 0)
        for peer, job in others:
            shown = self.ended(peer, job)
            self.assertEqual((shown["state"], shown["ended"], shown["min_slots"]), ("done", 6, 2), shown)

    def test_a_gang_that_is_too_large_says_so_and_stops_nobody(self):
        large = self.submit(self.home, SHORT_MS, "--workers", 4, "--min-workers", 4, "--tasks", 4)
        self.explained(self.home, large, "gang_too_large", "it needs 4 slots at once to begin, and the grid offers 3")
        small = self.ended(self.second, self.submit(self.second, SHORT_MS, "--workers", 3, "--min-workers", 3, "--tasks", 6))
        self.assertEqual((small["state"], small["ended"]), ("done", 6), small)
        self.assertEqual(self.home.job(large)["running"], 0)
        self.assertEqual(self.home.ask("job", "cancel", large).code, 0)
        refused = self.home.ask("run", mobile(TASK), "--workers", 2, "--min-workers", 3)
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("--min-workers 3 is more than --workers 2", refused.err)

    def test_a_lost_machine_is_replaced_up_to_the_quota(self):
        job = self.submit(self.home, LONG_MS, "--workers", 2, "--tasks", 5)
        self.wait_running(self.home, job, 2)
        at = lambda: {row["id"] for row in self.home.job(job)["peers"] if row["running"]}
        used = at()
        victim = next(peer for peer in (self.second, self.third) if peer.node()["id"] in used)
        lost = victim.node()["id"]
        victim.kill()
        counts = set()

        def is_refilled() -> bool:
            counts.add(self.home.job(job)["running"])
            return len(at() - {lost}) == 2

        wait_until("the quota is filled again", is_refilled, lambda: f"{self.home.job(job)}\n{self.grid.logs()}")
        self.assertLessEqual(max(counts), 2)
        self.assertEqual(self.home.ask("job", "cancel", job).code, 0)

    def test_a_lost_machine_is_ignored_or_ends_the_job(self):
        lost = self.third.node()["id"]
        words = ("--tasks", 5, "--workers", 3, "--on-failure")
        ignoring = self.submit(self.home, LONG_MS, *words, "ignore")
        self.wait_running(self.home, ignoring, 3)
        self.third.kill()
        self.explained(self.home, ignoring, "not_replaced", "the job has 2 slots of the 3 it wanted")
        self.assertEqual(self.home.job(ignoring)["on_failure"], "ignore")
        self.third.start()
        wait_until("it is back", lambda: self.grid.alive(self.home) == 3, self.grid.logs)
        self.assertEqual(self.home.job(ignoring)["running"], 2)
        self.assertEqual(self.home.ask("job", "cancel", ignoring).code, 0)

        cancelled = self.submit(self.home, LONG_MS, *words, "cancel")
        self.wait_running(self.home, cancelled, 3)
        self.third.kill()
        shown = self.ended(self.home, cancelled)
        self.assertEqual((shown["state"], shown["exit_code"]), ("failed", 1), shown)
        self.assertIn(f"stopped because peer {lost[:8]} was lost and --on-failure is cancel", shown["sentence"])

    def test_a_job_that_ignores_the_loss_of_all_its_machines_ends(self):
        self.assertEqual(self.third.ask("share", "--tag", "pinned").code, 0)
        lost = self.third.node()["id"]
        job = self.submit(self.home, LONG_MS, "--workers", 1, "--tasks", 2, "--need", "tag=pinned", "--on-failure", "ignore")
        self.wait_running(self.home, job, 1)
        self.third.kill()
        shown = self.ended(self.home, job)
        self.assertEqual((shown["state"], shown["exit_code"]), ("failed", 1), shown)
        self.assertIn(f"all its machines were lost, peer {lost[:8]} as the last one", shown["sentence"])


if __name__ == "__main__":
    unittest.main()
