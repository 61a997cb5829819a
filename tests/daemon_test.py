"""The daemon as its owner meets it: up, down, two on one machine, settings, what is shared, what is said about it."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.harness import GODWIT, SCRATCH, Finished
from support.schemas import validate

PATIENCE_SECONDS = 300


HOG = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char** words) {
  const size_t bytes = (size_t)atoi(words[1]) << 20;
  volatile char* const memory = malloc(bytes);
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
  while (count > 2) sleep(1);
  printf("%s MiB\\n", words[1]);
}
"""


class Owner:
    """A user with a home of its own, where everything of Godwit is."""

    def __init__(self, case: unittest.TestCase):
        folder = tempfile.TemporaryDirectory(prefix="gw-own-")  # sockets have short paths
        case.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        self.state = self.home / ".local/state/godwit"
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(SCRATCH / "cache")}

    def run(self, *words, **variables) -> Finished:
        command = [str(GODWIT), *map(str, words)]
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS, check=False, cwd=self.home, stdin=subprocess.DEVNULL,
                              env={**self.environment, **variables})
        return Finished(command, done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def json(self, *words, code: int = 0, **variables) -> dict:
        done = self.run(*words, "-o", "json", **variables)
        if done.code != code:
            raise AssertionError(f"{done}{done.out.decode(errors='replace')}")
        return validate(json.loads(done.out))


class Daemon(unittest.TestCase):
    def setUp(self):
        self.owner = Owner(self)

    def up(self, *words, **variables) -> dict:
        up = self.owner.json("up", *words, **variables)
        self.addCleanup(self.owner.run, "down", "--socket", up["socket"])
        return up

    def test_up_says_how_to_go_on_and_down_leaves_nothing(self):
        up = self.up()
        self.assertTrue(up["addresses"][0].rsplit(":", 1)[1].isdigit())
        self.assertIn("godwit down", up["stop"])
        again = self.owner.run("up")
        self.assertEqual(again.code, 2, again)
        self.assertIn("already", again.err)
        log = Path(up["log"]).read_text()
        self.assertIn("ready", log)
        for line in log.splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|warn|error) [a-z]+: [a-z]")
        status = self.owner.json("status")
        self.assertEqual(status["node"]["id"], up["id"])
        self.assertEqual(self.owner.json("down")["id"], up["id"])
        self.assertFalse(Path(up["socket"]).exists())
        self.assertEqual(self.up()["id"], up["id"], "the same peer, at once")

    def test_two_on_one_machine_meet(self):
        grid = f"t{os.getpid()}"  # where no daemon of another test is found on the local network
        first = self.up("--slots", "1", "--grid", grid)
        second = self.up("--state", self.owner.home / "second", "--slots", "1", "--grid", grid, "--join", first["addresses"][0],
                         "--machine-name", "lab-2")
        self.assertNotEqual(first["id"], second["id"])
        self.assertNotEqual(first["addresses"], second["addresses"])
        refused = self.owner.run("up", "--state", self.owner.state, "--socket", self.owner.home / "third")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("another daemon", refused.err)
        self.assertEqual(self.owner.json("peer", "wait", "--peers", "2")["alive"], 2)
        ping = self.owner.json("peer", "ping", second["id"][:8], "--count", "2", "--interval", "1ms")
        self.assertEqual(ping["answered"], 2, ping)
        self.assertGreater(ping["pings"][0]["round_trip_us"], 0)
        self.assertEqual(self.owner.json("peer", "show", second["id"][:8])["peers"][0]["id"], second["id"])
        self.assertEqual(self.owner.json("peer", "show", "lab-2")["peers"][0]["id"], second["id"])
        self.assertIn("lab-2", self.owner.run("peer", "list").out.decode())
        self.assertEqual(set(self.owner.run("complete", "peer").out.decode().split()) & {"lab-2", second["id"][:8]}, {"lab-2", second["id"][:8]})
        doctor = self.owner.json("doctor")
        checks = {finding["check"]: finding for finding in doctor["findings"]}
        self.assertEqual(checks["clock"]["verdict"], "ok", checks["clock"])
        self.assertEqual(checks["versions"]["verdict"], "ok", checks["versions"])
        self.assertEqual(checks["peers"]["verdict"], "ok", checks["peers"])

    def test_the_share_is_stored_and_enforced(self):
        self.up("--listen", "127.0.0.1:0")
        shared = self.owner.json("share", "--cores", "3", "--memory", "512M", "--cpu", "40%")
        self.assertEqual((shared["cores"], shared["memory_bytes"], shared["cpu_percent"]), (3, 512 << 20, 40))
        self.assertEqual(self.owner.json("status")["node"]["slots"], 3)
        self.assertEqual(self.owner.run("share", "--cpu", "0%").code, 2)
        self.owner.json("down")
        self.up("--listen", "127.0.0.1:0")
        self.assertEqual(self.owner.json("share")["cores"], 3)
        metrics = self.owner.json("metrics")["metrics"]
        self.assertEqual(metrics["godwit_slots"], 3)
        self.assertEqual(metrics["godwit_slots_free"], 3)
        text = self.owner.run("metrics").out.decode()
        self.assertRegex(text, r"# TYPE godwit_gateway_requests_total counter\ngodwit_gateway_requests_total [1-9]")

    def test_who_uses_more_memory_than_is_lent_is_ended(self):
        self.up("--listen", "127.0.0.1:0", "--slots", "1")
        self.owner.json("share", "--memory", "128M")
        source = self.owner.home / "hog.c"
        source.write_text(HOG)
        modest = self.owner.run("run", source, "--workers", "1", "--", "16")
        self.assertEqual((modest.code, modest.out), (0, b"16 MiB\n"), modest)
        greedy = self.owner.run("run", source, "--workers", "1", "--", "512", "and stay")
        self.assertNotEqual(greedy.code, 0)
        self.assertIn("128 MiB of memory", greedy.err)

    def test_options_of_up_are_settings(self):
        self.owner.run("config", "set", "listen=127.0.0.1:0")
        self.owner.run("config", "set", "slots=2")
        self.assertTrue(self.up()["addresses"][0].startswith("127.0.0.1:"))
        self.assertEqual(self.owner.json("status")["node"]["slots"], 2)
        self.owner.json("down")
        self.up(GODWIT_SLOTS="3")
        self.assertEqual(self.owner.json("status")["node"]["slots"], 3)
        self.owner.json("down")
        self.up("--slots", "4", GODWIT_SLOTS="3")
        self.assertEqual(self.owner.json("status")["node"]["slots"], 4)
        self.assertEqual(self.owner.run("up", GODWIT_SLOTS="many").code, 2)

    def test_ready_fd_gets_a_line_when_the_daemon_is_ready(self):
        ours, theirs = os.pipe()
        words = [str(GODWIT), "up", "--ready-fd", str(theirs), "--listen", "127.0.0.1:0", "--slots", "1"]
        daemon = subprocess.Popen(words, env=self.owner.environment, pass_fds=[theirs], stderr=subprocess.PIPE)
        self.addCleanup(daemon.stderr.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        os.close(theirs)
        with os.fdopen(ours) as ready:
            self.assertEqual(ready.read(), "ready\n")
        self.assertEqual(self.owner.json("status")["node"]["slots"], 1)
        daemon.terminate()
        self.assertIn(b"stopping", daemon.stderr.read())
        self.assertEqual(daemon.wait(PATIENCE_SECONDS), 0)

    def test_without_a_daemon_the_doctor_says_so(self):
        doctor = self.owner.json("doctor", code=1)
        self.assertEqual(doctor["verdict"], "bad")
        self.assertEqual(doctor["findings"][0]["reason"], "no_daemon")
        self.assertIn("godwit up", doctor["findings"][0]["fix"])

    def test_job_explain_says_why_a_job_waits(self):
        self.up("--listen", "127.0.0.1:0")
        self.owner.json("share", "--cores", "0")
        source = self.owner.home / "wait.c"
        source.write_text("int main(void) { return 0; }\n")
        job = self.owner.run("run", source, "--workers", "1", "--tasks", "2", "--detach")
        self.assertEqual(job.code, 0, job)
        name = job.out.decode().strip()
        waits = self.owner.json("job", "explain", name)["waits"]
        self.assertEqual([(wait["reason"], wait["threads"]) for wait in waits], [("no_peers", 2)])
        self.assertIn("no_peers", self.owner.run("job", "show", name).out.decode())
        self.owner.json("share", "--cores", "1")
        self.assertEqual(self.owner.run("job", "wait", name).code, 0)

    def test_a_stack_of_peers_ends_with_its_command(self):
        words = [str(GODWIT), "devstack", "3", "-o", "json"]
        stack = subprocess.Popen(words, env=self.owner.environment, stdout=subprocess.PIPE)
        self.addCleanup(stack.stdout.close)
        self.addCleanup(stack.wait)
        self.addCleanup(stack.terminate)
        peers = json.loads(stack.stdout.readline())["peers"]
        self.assertEqual(len(peers), 3)
        waited = self.owner.json("peer", "wait", "--peers", "3", "--socket", peers[2]["socket"])
        self.assertEqual(waited["alive"], 3)
        stack.terminate()
        self.assertEqual(stack.wait(PATIENCE_SECONDS), 0)
        self.assertFalse(Path(peers[0]["socket"]).exists())

    def test_the_unit_is_one(self):
        installed = self.owner.json("up", "--install", "--slots", "2", XDG_RUNTIME_DIR=str(self.owner.home))
        unit = Path(installed["unit"]).read_text()
        self.assertRegex(unit, re.escape(f'ExecStart="{GODWIT.resolve()}" "up" "--foreground" "--slots" "2"'))
        self.owner.json("down", "--uninstall", XDG_RUNTIME_DIR=str(self.owner.home))
        self.assertFalse(Path(installed["unit"]).exists())


if __name__ == "__main__":
    unittest.main()
