"""Clients that connect and say nothing do not keep others from being served."""

import http.client
import re
import socket
import time
import unittest

from support.grid import wait_until
from support.harness import EndToEnd
from support.local_daemon import LocalDaemon

IDLE_AT_TRACKER, IDLE_AT_API = 256, 65  # as many connections as each takes, and one more for the API
SERVED_SECONDS = 30  # until an honest client is served, whatever the idle ones do


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
        daemon = LocalDaemon(self, "--tracker", "127.0.0.1:0")
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
        daemon = LocalDaemon(self)
        connections = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(IDLE_AT_API)]
        self.hold(connections)
        for connection in connections:
            connection.connect(str(daemon.socket))
        print(f"API: served after {self.served_within(lambda: daemon.ask('job', 'list').returncode == 0):.1f} s beside {IDLE_AT_API} idle clients")


if __name__ == "__main__":
    unittest.main()
