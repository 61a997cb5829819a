"""Results of tasks as people use them: lists, output of single tasks, retries, limits on failures, reruns, names, keys, live output, watching.

`make soak` runs twenty times as many tasks.
"""

import json
import os
import pty
import signal
import subprocess
import time
import unittest

from support.grid import Grid, wait_until
from support.harness import SCALE, EndToEnd, mobile, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/array_work.c"
PEERS, SLOTS = 2, 2
TASKS = 40 * SCALE
LISTED = 1000  # as many as one page of a list may have
INTERRUPTED = 130


class ResultsTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=PEERS, slots=SLOTS)
        self.home = self.grid.peers[0]

    def submit(self, tasks: int, *args, options=()) -> str:
        words = ("run", mobile(TASK), "--detach", "--workers", PEERS * SLOTS, "--tasks", tasks, "-o", "quiet", *options, "--", *args)
        return run(self.home.command(*words), check=True).out.decode().strip()

    def finish(self, job: str) -> dict:
        wait_until(f"job {job} is over", lambda: self.home.job(job)["state"] != "running", self.grid.logs)
        return self.home.job(job)

    def asked(self, *words, code: int = 0) -> dict:
        done = run(self.home.command(*words, "-o", "json"))
        self.assertEqual(done.code, code, done)
        return json.loads(done.out)

    def text(self, *words, code: int = 0) -> str:
        done = run(self.home.command(*words))
        self.assertEqual(done.code, code, done)
        return done.out.decode()

    def test_failed_tasks_are_listed_shown_and_run_again(self):
        failing = [task for task in range(TASKS) if task % 7 == 3]
        job = self.submit(TASKS, "fail", 7, options=("--name", "study"))
        self.assertEqual(self.finish(job)["state"], "failed")
        listed = self.asked("task", "list", "study", "--filter", "failed", "--limit", 4)
        self.assertEqual([row["task"] for row in listed["tasks"]], failing[:4])
        self.assertEqual((listed["count"], listed["next"]), (len(failing), failing[4]))
        peers = {row["id"] for row in self.home.peers()}
        for row in listed["tasks"]:
            self.assertEqual(row["exit_code"], 1 + row["task"] % 5)
            self.assertIn(row["host"], peers)
            self.assertEqual(row["attempts"], 1)
            self.assertLessEqual(row["started_at"], row["ended_at"])
        self.assertIn("exit code", self.text("task", "show", "last", failing[0]))
        self.assertEqual(self.asked("task", "explain", job, failing[0])["state"], "failed")
        self.assertEqual(self.text("job", "logs", "study", "--task", "3-5"), "".join(f"task {n} of {TASKS}\n" for n in (3, 4, 5)))
        self.assertEqual(self.text("job", "cat", "study", "--task", "39"), f"task 39 of {TASKS}\n")
        self.assertEqual(self.text("job", "logs", "last", "--task", "4", "--label"), f"4: task 4 of {TASKS}\n")
        again = self.text("job", "rerun", "study", "--filter", "failed", "--detach", "--name", "again").strip()
        shown = self.finish(again)
        self.assertEqual((shown["tasks"], shown["failed"]), (len(failing), len(failing)), shown)
        self.assertEqual(self.text("job", "logs", "again"), "".join(f"task {n} of {TASKS}\n" for n in failing))
        self.assertEqual([row["task"] for row in self.asked("task", "list", "last", "--filter", "failed", "--limit", LISTED)["tasks"]], failing)
        self.assertEqual(self.asked("task", "list", "again", "--filter", "done")["count"], 0)

    def test_tasks_run_again_and_too_many_failures_stop_the_job(self):
        job = self.submit(TASKS, "fail", 20, options=("--retries", 2))
        shown = self.finish(job)
        failing = len(range(3, TASKS, 20))
        self.assertEqual((shown["failed"], shown["retried"]), (failing, 2 * failing), shown)
        self.assertEqual([row["attempts"] for row in self.asked("task", "list", job, "--filter", "failed")["tasks"]], [3] * failing)
        self.assertEqual(self.text("job", "logs", job), "".join(f"task {n} of {TASKS}\n" for n in range(TASKS)), "each run once")
        stopped = self.submit(4000, "fail", 10, options=("--max-fails", 3))
        shown = self.finish(stopped)
        self.assertEqual(shown["state"], "failed")
        self.assertGreaterEqual(shown["failed"], 4)
        self.assertIn("stopped because", shown["sentence"])
        self.assertGreater(self.asked("task", "list", stopped, "--filter", "waiting", "--limit", 1)["count"], 0)
        fast = run(self.home.command("run", mobile(TASK), "--workers", 2, "--tasks", 4000, "--fail-fast", "--", "fail", 10))
        self.assertIn("at most 0 may", fast.err)
        self.assertNotEqual(fast.code, 0)

    def test_the_same_key_is_the_same_job_also_after_a_restart(self):
        key = ("--key", "nightly 7")
        job = self.submit(TASKS, "line", options=key)
        self.finish(job)
        self.assertEqual(self.submit(TASKS, "line", options=key), job)
        self.home.kill()
        self.home.start()
        self.assertEqual(self.submit(TASKS, "line", options=key), job)
        words = ("run", mobile(TASK), "--detach", "--tasks", TASKS, *key, "--", "other")
        refused = run(self.home.command(*words))
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("the key 'nightly 7' belongs to job", refused.err)
        self.text("job", "forget", job)
        self.assertNotEqual(self.submit(TASKS, "other", options=key), job, "the key goes with its job")
        self.assertIn("last", self.text("complete", "job").split())

    def test_output_comes_as_it_is_written_and_in_whole_lines(self):
        # Task 0 never ends within the test; nothing of the others waits for it.
        words = ("run", mobile(TASK), "--workers", 4, "--tasks", 8, "--time-limit", "120s", "--", "spin", 0)
        with subprocess.Popen([str(word) for word in self.home.command(*words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            seen = {process.stdout.readline() for _ in range(7)}
            self.assertEqual(seen, {b"task %d of 8\n" % task for task in range(1, 8)})
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, INTERRUPTED)
        self.assertIn(b"detached from job", errors)
        self.text("job", "cancel", "last")
        ordered = self.text("run", mobile(TASK), "--workers", 4, "--tasks", 200, "--keep-order", "--", "line")
        self.assertEqual(ordered, "".join(f"task {n} of 200\n" for n in range(200)))
        labelled = self.text("run", mobile(TASK), "--workers", 4, "--tasks", 20, "--label", "--", "line")
        self.assertEqual(sorted(labelled.splitlines()), sorted(f"{n}: task {n} of 20" for n in range(20)))

    def test_counts_are_right_after_a_restart_of_home_and_a_new_follower(self):
        job = self.submit(TASKS, "line")
        self.finish(job)
        before = {row["id"]: row["finished"] for row in self.home.job(job)["peers"]}
        self.assertEqual(sum(before.values()), TASKS)
        held = self.submit(60, "spin", 59, options=("--time-limit", "120s"))
        wait_until("all tasks but one are done", lambda: self.home.job(held)["ended"] == 59, self.grid.logs)
        self.home.kill()
        self.home.start()
        shown = self.home.job(held)
        self.assertEqual((shown["ended"], sum(row["finished"] for row in shown["peers"])), (59, 59), shown)
        with subprocess.Popen([str(word) for word in self.home.command("job", "watch", held)], stdout=subprocess.PIPE) as watching:
            self.assertIn(b"59/60 done", watching.stdout.readline())
            watching.send_signal(signal.SIGINT)
            watching.communicate(timeout=60)
        explained = self.asked("job", "explain", held)
        self.assertEqual(explained["state"], "running")
        self.text("job", "cancel", held)

    def test_a_screen_is_left_with_q(self):
        job = self.submit(4, "spin", 0, options=("--time-limit", "120s"))
        parent, child = pty.openpty()
        words = [str(word) for word in self.home.command("job", "watch", job)]
        process = subprocess.Popen(words, stdin=child, stdout=child, stderr=child, close_fds=True)
        os.close(child)
        shown = b""
        until = time.monotonic() + 60
        while b"running" not in shown and time.monotonic() < until:
            shown += os.read(parent, 4096)
        os.write(parent, b"q")
        self.assertEqual(process.wait(timeout=60), 0)
        while not shown.endswith(b"continues\r\n"):
            shown += os.read(parent, 4096)
        self.assertIn(b"\x1b[?1049l", shown, "the screen of the shell is back")
        os.close(parent)
        self.text("job", "cancel", job)


if __name__ == "__main__":
    unittest.main()
