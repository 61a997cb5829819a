"""Floods at the door of a running grid: memory stays bounded, the reasons are logged, and meanwhile a job runs as if nothing happened.

A few hundred connections of each kind in `make test`, ten thousand in `make soak`.
"""

import os
import resource
import socket
import subprocess
import threading
import time
import unittest

from support.grid import Grid, Namespace, Network, wait_until
from support.harness import SCALE, EndToEnd, mobile, native, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/array_task.c"
TASKS, STEPS, LINES = 12, 4_000_000, 2
CONNECTIONS = 400 if SCALE == 1 else 10_000
SOURCES = 150  # addresses of the attacker, so that the limit of one address does not help
GROWTH_MIB = 48  # that a flood may cause: 1,024 connections in the middle of a handshake at the very most
CLIENT_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # the beginning of TLS


class Flood:
    """Connections from many addresses to one. What they say is asked of `words(number)` again and again, until they are closed."""

    def __init__(self, target: tuple[str, int], sources: list[str], words):
        self._target, self._sources, self._words = target, sources, words
        self.opened = self.closed = 0
        self.over = threading.Event()

    def run(self) -> None:
        waiting: dict[int, socket.socket] = {}
        try:
            while self.opened < CONNECTIONS or not self.over.is_set():
                for _ in range(min(200, CONNECTIONS - self.opened)):
                    waiting[self.opened] = self._open()
                    self.opened += 1
                for number in [number for number, connection in waiting.items() if not self._say(number, connection)]:
                    waiting.pop(number).close()
                    self.closed += 1
                time.sleep(0.02)
        finally:
            for connection in waiting.values():
                connection.close()

    def _open(self) -> socket.socket:
        connection = socket.socket()
        connection.bind((self._sources[self.opened % len(self._sources)], 0))
        connection.setblocking(False)
        connection.connect_ex(self._target)
        return connection

    def _say(self, number: int, connection: socket.socket) -> bool:
        """False: it has been closed."""
        try:
            connection.send(self._words(number))
            return connection.recv(4096) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


def one_byte(number: int) -> bytes:
    return CLIENT_HELLO[number % len(CLIENT_HELLO):][:1]


def garbage(_: int) -> bytes:
    return os.urandom(3000)


def huge_record(_: int) -> bytes:
    return b"\x16\x03\x01\xff\xff" + bytes(3000)


class HostileTest(EndToEnd):
    FLOODS = {"slowloris": one_byte, "garbage": garbage, "huge lengths": huge_record}

    def setUp(self):
        super().setUp()
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        self.grid = Grid(self, peers=2, slots=2, bystanders=1)
        attacker = self.grid.network.namespace(3)
        self.sources = [f"10.83.0.{100 + n}" for n in range(SOURCES)]
        commands = "".join(f"address add {address}/24 dev eth0\n" for address in self.sources)
        subprocess.run(["ip", "-n", attacker, "-batch", "-"], input=commands, text=True, check=True)
        self.attacker = Namespace(attacker)
        self.addCleanup(self.attacker.close)
        self.expected = b"".join(
            subprocess.run([native(TASK), str(STEPS), str(LINES)], env=dict(os.environ, GODWIT_TASK=str(n), GODWIT_TASKS=str(TASKS)),
                           capture_output=True, check=True).stdout for n in range(TASKS))

    def run_job(self) -> float:
        home = self.grid.peers[0]
        began = time.monotonic()
        done = run(home.command("run", mobile(TASK), "--workers", 4, "--tasks", TASKS, "--keep-order", "--", STEPS, LINES), check=True)
        self.assert_output(done.out, self.expected, self.grid.logs())
        return time.monotonic() - began

    def test_floods(self):
        victim = self.grid.peers[0]
        quiet = self.run_job()
        for name, words in self.FLOODS.items():
            with self.subTest(flood=name):
                before = victim.memory_mib("VmRSS")
                flood = Flood((self.grid.network.host(1), Network.PORT), self.sources, words)
                running = self.attacker.begin(flood.run)
                try:
                    wait_until("the flood has begun", lambda: flood.closed > 0, self.grid.logs)
                    disturbed = self.run_job()
                    wait_until("all have come", lambda: flood.opened == CONNECTIONS or running.done(), self.grid.logs)
                finally:
                    flood.over.set()
                running.result()
                peak = victim.memory_mib("VmHWM")
                print(f"{name}: {flood.opened} connections, {flood.closed} refused; memory {before:.1f} MiB, then {peak:.1f} at most; "
                      f"a job {disturbed:.1f} s instead of {quiet:.1f}", flush=True)
                self.assertLess(peak - before, GROWTH_MIB)
                wait_until("the peers know each other", lambda: self.grid.alive(self.grid.peers[1]) == 2, self.grid.logs)
        log = victim.log.read_text(errors="replace")
        self.assertRegex(log, "transport: connection refused .*why=")
        self.assertRegex(log, "transport: connection ended .*it broke the rules of TLS")


if __name__ == "__main__":
    unittest.main()
