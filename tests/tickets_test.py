"""The ticket of a job: another machine reads state, tasks, output and end of the job with it, while it runs and after its end, and can
change nothing."""

import json
import subprocess
import unittest

from support.grid import Grid, wait_until
from support.harness import EndToEnd, mobile, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/array_work.c"
TASKS = 12


class TicketsTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=2, slots=2)
        self.home, self.other = self.grid.peers

    def submit(self, *words) -> tuple[str, str]:
        options = ("--detach", "--workers", 4, "--tasks", TASKS, "-o", "quiet")
        job = run(self.home.command("run", mobile(TASK), *options, "--", *words), check=True).out.decode().strip()
        return job, run(self.home.command("job", "ticket", job), check=True).out.decode().strip()

    def at_other(self, *words, code: int = 0) -> bytes:
        done = run(self.other.command(*words))
        self.assertEqual(done.code, code, done)
        return done.out

    def test_another_machine_waits_for_a_job_and_reads_it(self):
        job, ticket = self.submit("mixed", 4)
        follower = subprocess.Popen([str(word) for word in self.other.command("job", "logs", ticket, "--follow")], stdout=subprocess.PIPE)
        ended = json.loads(self.at_other("job", "wait", ticket, "-o", "json"))
        self.assertEqual((ended["id"], ended["state"]), (job, "done"))
        followed = follower.communicate(timeout=60)[0]
        at_home = run(self.home.command("job", "logs", job), check=True).out
        self.assertEqual(self.at_other("job", "logs", ticket), at_home)
        self.assertEqual(sorted(followed.splitlines()), sorted(at_home.splitlines()), "live output has every line once")
        self.assertEqual(self.at_other("job", "cat", ticket, "--task", 3), run(self.home.command("job", "cat", job, "--task", 3)).out)
        self.assertEqual(json.loads(self.at_other("job", "show", ticket, "-o", "json"))["ended"], TASKS)
        listed = json.loads(self.at_other("job", "list", "--ticket", ticket, "-o", "json"))
        self.assertEqual([row["id"] for row in listed["jobs"]], [job])
        self.assertEqual(json.loads(self.at_other("task", "list", ticket, "--limit", 3, "-o", "json"))["count"], TASKS)
        self.assertEqual(json.loads(self.at_other("job", "list", "-o", "json"))["jobs"], [], "it is no job of that machine")

    def test_a_ticket_changes_nothing_and_is_of_one_job(self):
        job, ticket = self.submit("spin", 0)
        refused = run(self.other.command("job", "cancel", ticket))
        self.assertNotEqual(refused.code, 0)
        self.assertIn("changes nothing", refused.err)
        self.assertEqual(self.home.job(job)["state"], "running")
        altered = ticket[:-1] + ("a" if ticket[-1] != "a" else "b")
        damaged = run(self.other.command("job", "show", altered))
        self.assertIn("paste the whole line", damaged.err)
        run(self.home.command("job", "cancel", job), check=True)
        wait_until("the job is over", lambda: self.home.job(job)["state"] == "cancelled", self.grid.logs)
        run(self.home.command("job", "forget", job), check=True)
        gone = run(self.other.command("job", "show", ticket))
        self.assertNotEqual(gone.code, 0)
        self.home.stop()
        away = run(self.other.command("job", "show", ticket))
        self.assertIn("cannot be reached", away.err, "the sentence says what is the matter")


if __name__ == "__main__":
    unittest.main()
