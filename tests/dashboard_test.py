"""The dashboard in a real Chromium: two peers run a job, the pages follow it, and strangers are refused (web/dashboard/browser/browser.mjs).

GODWIT_SHOTS names a folder that gets a picture of each page.
"""

import json
import os
import stat
import subprocess
import unittest

from support.grid import wait_until
from support.harness import GODWIT, NODE, EndToEnd, mobile, run
from support.local_daemon import LocalDaemon
from support.programs import SOURCE_ROOT

BROWSER = SOURCE_ROOT / "web/dashboard/browser/browser.mjs"
SLEEPER = SOURCE_ROOT / "tests/guests/sleep_for.c"
TALKER = SOURCE_ROOT / "tests/guests/sleep_and_say.c"
TASKS = 12
SHOTS = os.environ.get("GODWIT_SHOTS", "")


class DashboardTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.daemon = LocalDaemon(self, "--web", "127.0.0.1:0", "--for", "anyone", slots=2)
        address = self.asked("status")["node"]["addresses"][0]
        self.other = LocalDaemon(self, "--join", address, "--for", "anyone", slots=2)
        wait_until("the peers know each other", lambda: len(self.asked("peer", "list")["peers"]) == 2, self.daemon.log)

    def asked(self, *words) -> dict:
        answer = self.daemon.ask(*words, "-o", "json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def submitted(self, program, *words) -> dict:
        job = run(self.daemon.command("run", mobile(program), "--detach", "-o", "quiet", *words), check=True).out.decode().strip()
        return {"id": job, "name": self.asked("job", "show", job)["name"]}

    def test_a_browser_follows_a_job_and_strangers_are_refused(self):
        link, watch_link = (self.asked("web", "link", "--scope", scope)["link"] for scope in ("manage", "watch"))
        plan = {
            "link": link,
            "watchLink": watch_link,
            "wrongLink": link[:-4] + ("0000" if link[-4:] != "0000" else "1111"),
            "job": self.submitted(TALKER, "--name", "talk", "--tasks", TASKS, "--", 2) | {"prints": "said after 2 s"},
            "endless": self.submitted(SLEEPER, "--name", "endless", "--tasks", 1, "--", 3600),
            "shots": SHOTS,
        }
        ran = subprocess.run([NODE, BROWSER, json.dumps(plan)], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr + self.daemon.log())
        seen = json.loads(ran.stdout)
        self.assertEqual(seen["troubles"], [])
        self.assertFalse(seen["tokenInAddress"], "the token leaves the address bar, and with it the history")
        self.assertTrue(seen["isolated"], "COOP and COEP hold")
        self.assertEqual((seen["percent"], seen["rows"], seen["peers"]), ("100 %", TASKS, 2))
        self.assertEqual(seen["output"].count("said after 2 s"), TASKS)
        self.assertEqual(seen["watcherButtons"], 0)
        self.assertEqual((seen["refused"], seen["withoutToken"]), ("This link is not valid any more", "This page needs a link"))
        self.assertEqual(seen["fromElsewhere"], "blocked")

    def test_tokens_are_listed_and_revoked_and_outlive_the_daemon(self):
        made = self.asked("web", "link", "--scope", "watch")
        self.assertIn((made["id"], "watch"), [(one["id"], one["scope"]) for one in self.asked("web", "tokens")["tokens"]])
        self.assertTrue(self.asked("status")["web"].startswith("http://127.0.0.1:"))
        opened = self.asked("web", "open")
        page = self.daemon.folder / "state/dashboard.html"
        self.assertIn(opened["link"], page.read_text())
        self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o600, "it holds a token")
        self.daemon.restart()
        self.assertEqual(len(self.asked("web", "tokens")["tokens"]), 2)
        self.assertEqual(self.asked("web", "revoke", made["id"][:8])["ids"], [made["id"]])
        self.assertNotIn(made["id"], [one["id"] for one in self.asked("web", "tokens")["tokens"]])

    def test_what_cannot_be_served_is_refused_with_a_sentence(self):
        far = run([GODWIT, "up", "--state", self.folder / "far", "--web", "0.0.0.0:7500"])
        self.assertNotEqual(far.code, 0)
        self.assertIn("served to this machine only", far.err)
        without = self.other.ask("web", "link")
        self.assertNotEqual(without.returncode, 0)
        self.assertIn("godwit up --web", without.stderr)
        self.assertIsNone(json.loads(self.other.ask("status", "-o", "json").stdout)["web"])


if __name__ == "__main__":
    unittest.main()
