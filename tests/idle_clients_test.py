"""Clients that connect and say nothing, and daemons that do: nobody waits for them for ever."""

import concurrent.futures
import http.client
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support.grid import wait_until
from support.harness import GODWIT, SCRATCH, EndToEnd, mobile
from support.programs import SOURCE_ROOT

IDLE_AT_TRACKER, IDLE_AT_API = 256, 65  # as many connections as each takes, and one more for the API
SERVED_SECONDS = 30  # until an honest client is served, whatever the idle ones do
ANSWER_SECONDS = 60  # of a command that speaks to a daemon which does not answer


class Daemon:
    """One on the loopback interface. `folder` has a short path: the socket lies there."""

    def __init__(self, case: unittest.TestCase, *options):
        folder = tempfile.TemporaryDirectory(prefix="gw-idle-")
        case.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.socket = self.folder / "socket"
        self._log = self.folder / "log"
        words = [GODWIT, "up", "--foreground", "--state", self.folder / "state", "--socket", self.socket, "--listen", "127.0.0.1:0", "--slots", "2", *options]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        case.addCleanup(self.stop)
        wait_until("the daemon is ready", lambda: "ready peer=" in self.log(), self.log)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def command(self, *words) -> list[str]:
        return [str(word) for word in (GODWIT, "--config", f"socket={self.socket}", *words)]

    def ask(self, *words) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(*words), capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        self.process.wait(30)


class IdleClients(EndToEnd):
    def served_within(self, served) -> float:
        began = time.monotonic()
        while True:
            try:
                if served():
                    return time.monotonic() - began
            except (OSError, http.client.HTTPException):
                pass
            if time.monotonic() - began > SERVED_SECONDS:
                self.fail(f"an honest client was not served within {SERVED_SECONDS} s")
            time.sleep(0.2)

    def hold(self, connections: list[socket.socket]) -> None:
        for connection in connections:
            self.addCleanup(connection.close)

    def test_do_not_block_a_tracker(self):
        daemon = Daemon(self, "--tracker", "127.0.0.1:0")
        wait_until("the tracker listens", lambda: "tracker listening at=" in daemon.log(), daemon.log)
        port = int(re.search(r"tracker listening at=127\.0\.0\.1:(\d+)", daemon.log()).group(1))
        self.hold([socket.create_connection(("127.0.0.1", port)) for _ in range(IDLE_AT_TRACKER)])

        def served() -> bool:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            try:
                connection.request("GET", "/")
                return connection.getresponse().status < 500
            finally:
                connection.close()

        print(f"tracker: served after {self.served_within(served):.1f} s beside {IDLE_AT_TRACKER} idle connections")

    def test_do_not_block_the_api(self):
        daemon = Daemon(self)
        connections = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(IDLE_AT_API)]
        self.hold(connections)
        for connection in connections:
            connection.connect(str(daemon.socket))
        print(f"API: served after {self.served_within(lambda: daemon.ask('job', 'list').returncode == 0):.1f} s beside {IDLE_AT_API} idle clients")


class Commands(EndToEnd):
    def test_a_daemon_that_does_not_answer_is_one_sentence(self):
        daemon = Daemon(self)
        daemon.process.send_signal(signal.SIGSTOP)
        commands = (("job", "list"), ("status",), ("peer", "list"))
        with concurrent.futures.ThreadPoolExecutor(len(commands)) as threads:
            for words, done in [(words, threads.submit(daemon.ask, *words)) for words in commands]:
                with self.subTest(words=words):
                    self.assertNotEqual(done.result().returncode, 0)
                    self.assertRegex(done.result().stderr, r"^godwit: .*(answer|respond).*\n")

    def test_a_reader_that_leaves_ends_a_run_quietly(self):
        """`godwit run | head -1`: the exit is that of a program whose reader has left, and no stack of errors."""
        module = mobile(SOURCE_ROOT / "tests/guests/array_task.c")
        for options in ((), ("--workers", "2", "--tasks", "4")):
            with self.subTest(options=options):
                daemon = Daemon(self)
                words = daemon.command("run", module, *options, "--", 2_000_000, 200)
                process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                           env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "XDG_CACHE_HOME": str(SCRATCH / "cache")})
                self.assertIn(b"line 0", process.stdout.readline())
                process.stdout.close()
                try:
                    code = process.wait(ANSWER_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    self.fail(f"{words}: it does not notice that nobody reads any more")
                finally:
                    errors = process.stderr.read().decode()
                    process.stderr.close()
                self.assertTrue(code in (141, -signal.SIGPIPE) or re.search(r"(closed|reader|pipe)", errors), f"exit {code}: {errors}")


if __name__ == "__main__":
    unittest.main()
