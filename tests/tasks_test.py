"""Arrays of tasks on several peers: many short ones, some that fail, some that become threads, and hosts that die.

`make soak` runs more of them.
"""

import os
import subprocess
import unittest

from support.grid import Grid, wait_until
from support.harness import SCALE, EndToEnd, mobile, native, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/array_work.c"
PEERS, SLOTS = 4, 2
MANY = 2_000 if SCALE == 1 else 200_000
MIXED, LONG_EVERY = 80, 20
LIMIT_REACHED = 5


class TasksTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=PEERS, slots=SLOTS)
        self.home = self.grid.peers[0]

    def submit(self, tasks: int, *args, options=()) -> str:
        words = self.home.command("run", mobile(TASK), "--detach", "--workers", PEERS * SLOTS, "--tasks", tasks, "-o", "quiet", *options, "--", *args)
        return run(words, check=True).out.decode().strip()

    def finish(self, job: str) -> dict:
        wait_until(f"job {job} is over", lambda: self.home.job(job)["state"] != "running", self.grid.logs)
        return self.home.job(job)

    @staticmethod
    def natively(tasks: int, *args) -> tuple[bytes, list[int]]:
        """What the tasks print, one after the other, and how they exit."""
        out, codes = b"", []
        for task in range(tasks):
            environment = dict(os.environ, GODWIT_TASK=str(task), GODWIT_TASKS=str(tasks))
            ran = subprocess.run([native(TASK), *(str(word).replace("{}", str(task)) for word in args)], env=environment, capture_output=True)
            out += ran.stdout
            codes.append(ran.returncode)
        return out, codes

    def test_many_short_tasks_have_one_result_each(self):
        job = self.submit(MANY, "line")
        shown = self.finish(job)
        self.assertEqual(shown["state"], "done", self.grid.logs())
        self.assertEqual(shown["ended"], MANY)
        expected = b"".join(b"task %d of %d\n" % (task, MANY) for task in range(MANY))
        self.assert_output(self.home.ask("job", "logs", job).out, expected, "many tasks")

    def test_tasks_that_fail_are_counted_and_named(self):
        tasks = 40
        expected, codes = self.natively(tasks, "fail", 7)
        job = self.submit(tasks, "fail", 7)
        shown = self.finish(job)
        failed = [task for task, code in enumerate(codes) if code != 0]
        self.assertEqual(shown["state"], "failed", shown)
        self.assertEqual((shown["ended"], shown["failed"]), (tasks - len(failed), len(failed)))
        self.assertEqual(sorted(row["task"] for row in shown["thread_list"] if row["state"] == "failed"), failed)
        self.assert_output(self.home.ask("job", "logs", job).out, expected, "some fail")
        self.assertEqual(self.home.ask("job", "wait", job).code, max(codes))

    def test_arguments_name_the_task(self):
        job = self.submit(5, "echo", "part {} of it", options=("--env", "NAME=x{}"))
        self.assertEqual(self.finish(job)["state"], "done")
        self.assertEqual(self.home.ask("job", "logs", job).out.decode().splitlines(), [f"part {task} of it x{task}" for task in range(5)])

    def test_a_task_without_memory_fails_alone(self):
        job = self.submit(30, "bomb", 11, options=("--memory", "64MiB"))
        shown = self.finish(job)
        self.assertEqual((shown["ended"], shown["failed"]), (29, 1), shown)

    def test_a_runaway_is_ended_by_its_limit(self):
        job = self.submit(6, "spin", 3, options=("--time-limit", "2s"))
        shown = self.finish(job)
        self.assertEqual((shown["ended"], shown["failed"]), (5, 1), shown)
        self.assertEqual(self.home.ask("job", "wait", job).code, LIMIT_REACHED)

    def test_long_tasks_become_threads_and_survive_their_hosts(self):
        expected, _ = self.natively(MIXED, "mixed", LONG_EVERY)
        job = self.submit(MIXED, "mixed", LONG_EVERY, options=("--checkpoint-every", "300ms", "--promote-after", "200ms"))
        wait_until("a part of the tasks is done", lambda: self.home.job(job)["ended"] >= MIXED // 4, self.grid.logs)
        self.grid.peers[1].kill()
        wait_until("half of the tasks is done", lambda: self.home.job(job)["ended"] >= MIXED // 2, self.grid.logs)
        self.home.kill()
        self.home.start()
        shown = self.finish(job)
        self.assertEqual(shown["state"], "done", f"{shown}\n{self.grid.logs()}")
        self.assert_output(self.home.ask("job", "logs", job).out, expected, "two hosts died")

    def test_a_suspended_array_goes_on(self):
        expected, _ = self.natively(MIXED, "mixed", LONG_EVERY)
        job = self.submit(MIXED, "mixed", LONG_EVERY)
        wait_until("a part of the tasks is done", lambda: self.home.job(job)["ended"] >= MIXED // 4, self.grid.logs)
        self.assertEqual(self.home.ask("job", "suspend", job).code, 0)
        self.assertEqual(self.home.ask("job", "resume", job).code, 0)
        self.assertEqual(self.finish(job)["state"], "done")
        self.assert_output(self.home.ask("job", "logs", job).out, expected, "suspended")


if __name__ == "__main__":
    unittest.main()
