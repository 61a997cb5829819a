"""One daemon on the loopback interface."""

import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.grid import wait_until
from support.harness import GODWIT

ANSWER_SECONDS = 60  # of a command, also of one that speaks to a daemon which does not answer


class LocalDaemon:
    """Has two slots, unless `slots` says otherwise. Its folder has a short path, since the socket lies there."""

    def __init__(self, case: unittest.TestCase, *options, slots: int = 2, environment: dict | None = None):
        folder = tempfile.TemporaryDirectory(prefix="gw-idle-")
        case.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.socket = self.folder / "socket"
        self._log = self.folder / "log"
        words = [GODWIT, "up", "--foreground", "--state", self.folder / "state", "--socket", self.socket, "--listen", "127.0.0.1:0", "--slots", slots, *options]
        self._words = [str(word) for word in words]
        self._environment = environment
        self._start()
        case.addCleanup(self.stop)

    def _start(self) -> None:
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(self._words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment)
        wait_until("the daemon is ready", lambda: "ready peer=" in self.log(), self.log)

    def restart(self) -> None:
        self.stop()
        self._start()

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
