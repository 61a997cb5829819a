"""Limits of time: --wall-limit of a program, of tasks, of a thread that moves and of one that sleeps; --job-time of a whole job."""

import json
import time
import unittest

from support.grid import Grid, wait_until
from support.harness import GODWIT, EndToEnd, mobile, run
from support.local_daemon import LocalDaemon
from support.programs import SOURCE_ROOT

SLEEPER = SOURCE_ROOT / "tests/guests/sleep_for.c"
SPINNER = SOURCE_ROOT / "tests/guests/empty_loop.c"
EXIT_LIMIT = 5
FOREVER_SECONDS = 3600


class LocalProgram(EndToEnd):
    def test_a_program_that_computes_ends_at_its_wall_limit(self):
        ended = run([GODWIT, "run", mobile(SPINNER), "--wall-limit", "1s"])
        self.assertEqual(ended.code, EXIT_LIMIT, ended)
        self.assertIn("wall time of 1 s", ended.err)

    def test_a_program_that_sleeps_ends_at_its_wall_limit(self):
        ended = run([GODWIT, "run", mobile(SLEEPER), "--wall-limit", "1s", "--", FOREVER_SECONDS])
        self.assertEqual(ended.code, EXIT_LIMIT, ended)
        self.assertIn("wall time of 1 s", ended.err)


class Tasks(EndToEnd):
    def setUp(self):
        super().setUp()
        self.daemon = LocalDaemon(self, slots=2)

    def run_tasks(self, program, *words) -> dict:
        job = run(self.daemon.command("run", mobile(program), "--detach", "-o", "quiet", *words), check=True).out.decode().strip()
        shown = lambda: json.loads(self.daemon.ask("job", "show", job, "-o", "json").stdout)
        wait_until("the job is over", lambda: shown()["state"] != "running", self.daemon.log)
        return shown()

    def test_tasks_that_compute_or_sleep_end_at_their_wall_limit(self):
        for program, argument in ((SPINNER, 0), (SLEEPER, FOREVER_SECONDS)):
            shown = self.run_tasks(program, "--tasks", 3, "--wall-limit", "2s", "--", argument)
            self.assertEqual((shown["state"], shown["failed"], shown["exit_code"]), ("failed", 3, EXIT_LIMIT), shown)

    def test_a_job_ends_when_its_time_is_over(self):
        shown = self.run_tasks(SLEEPER, "--tasks", 3, "--job-time", "2s", "--", FOREVER_SECONDS)
        self.assertEqual((shown["state"], shown["job_time_ms"], shown["exit_code"]), ("failed", 2000, 1), shown)
        self.assertIn("its job time of 2 s is over; 3 of its threads and tasks did not run to an end", shown["sentence"])
        self.assertLess(shown["ended_at"] - shown["submitted_at"], 60)


class Moves(EndToEnd):
    LIMIT_SECONDS = 15
    MOVED_AFTER_SECONDS = 12
    LATE_SECONDS = 5  # until home hears that a silent thread has started

    def test_a_thread_that_moves_gets_no_new_time(self):
        for program, argument in ((SPINNER, 0), (SLEEPER, FOREVER_SECONDS)):
            with self.subTest(program=program.name):
                self.check_move(program, argument)

    def check_move(self, program, argument) -> None:
        grid = Grid(self, peers=3, slots=1)
        home = grid.peers[0]
        self.assertEqual(home.ask("share", "--cores", "0").code, 0)
        words = ("run", mobile(program), "--workers", 1, "--detach", "-o", "quiet", "--wall-limit", f"{self.LIMIT_SECONDS}s", "--", argument)
        job = run(home.command(*words), check=True).out.decode().strip()
        thread = lambda: home.job(job)["thread_list"][0]
        wait_until("it runs", lambda: thread()["started_at"] is not None, grid.logs)
        begun = thread()["started_at"]
        ids = {peer.node()["id"]: peer for peer in grid.peers}
        wait_until("it has run for a while", lambda: time.time() - begun >= self.MOVED_AFTER_SECONDS, grid.logs)
        first = thread()["host"]
        self.assertEqual(ids[first].ask("share", "--cores", "0").code, 0)
        moved = lambda: thread()["host"] != first and thread()["reason"] == "ok"
        wait_until("it has moved", lambda: moved() or home.job(job)["state"] != "running", grid.logs)
        self.assertEqual(home.job(job)["state"], "running")
        again = time.time()
        wait_until("it is over", lambda: home.job(job)["state"] != "running", grid.logs)
        shown = home.job(job)
        self.assertEqual((shown["state"], shown["exit_code"]), ("failed", EXIT_LIMIT), shown)
        self.assertLess(shown["ended_at"] - again, self.LIMIT_SECONDS - self.MOVED_AFTER_SECONDS + 2 * self.LATE_SECONDS)


if __name__ == "__main__":
    unittest.main()
