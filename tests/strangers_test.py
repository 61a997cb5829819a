"""Strangers at the door of a running daemon: each is refused for its own reason, which is logged, and honest peers notice nothing."""

import re
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest

from support.harness import GODWIT, EndToEnd
from support.strangers import MESSAGE, MORE, frame, hello, recorded_session, tls_context

DAEMON = GODWIT.parent / "godwit-daemon"
PATIENCE_SECONDS = 300  # for what must happen; never what decides a test


class Daemon:
    """One daemon with its log."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen([DAEMON, "--state", folder, "--listen", "127.0.0.1:0", "--slots", "0", *options],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.log = ""
        self._grew = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.port = int(self.wait_for(r"listening at=127\.0\.0\.1:(\d+)").group(1))
        self.id = self.wait_for(r"ready peer=([0-9a-f]{64})").group(1)

    def _read(self):
        for line in self.process.stderr:
            with self._grew:
                self.log += line
                self._grew.notify_all()

    def wait_for(self, pattern: str) -> re.Match:
        with self._grew:
            if not self._grew.wait_for(lambda: re.search(pattern, self.log), PATIENCE_SECONDS):
                raise AssertionError(f"the daemon did not log '{pattern}':\n{self.log}")
            return re.search(pattern, self.log)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE_SECONDS)
        self._reader.join()
        self.process.stderr.close()
        return code


class Strangers(EndToEnd):
    def setUp(self):
        super().setUp()
        self.daemon = self.start("state")

    def start(self, name: str, *options) -> Daemon:
        daemon = Daemon(self.folder / name, *options)
        self.addCleanup(daemon.stop)
        return daemon

    def plain(self) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.daemon.port), PATIENCE_SECONDS)
        self.addCleanup(plain.close)
        return plain

    def connect(self, algorithm: str = "ed25519") -> ssl.SSLSocket:
        secured = tls_context(self.folder, algorithm).wrap_socket(self.plain())
        self.addCleanup(secured.close)
        return secured

    def assert_refused(self, reason: str, connection: socket.socket):
        self.daemon.wait_for(f"warn transport: connection ended .*{reason}")
        try:
            while connection.recv(65536):
                pass
        except OSError:
            pass  # reset: as good as closed

    def assert_honest_peers_are_served(self):
        other = self.start("other", "--join", f"127.0.0.1:{self.daemon.port}")
        self.daemon.wait_for(f"peer is there peer={other.id}")
        other.wait_for(f"peer is there peer={self.daemon.id}")
        self.assertEqual(self.daemon.stop(), 0)

    def test_the_wrong_kind_of_key(self):
        self.assert_refused("did not return a certificate", self.connect("rsa:2048"))
        self.assert_honest_peers_are_served()

    def test_a_forged_frame(self):
        stranger = self.connect()
        stranger.sendall(hello() + frame(99, b"?"))
        self.assert_refused("unknown kind 99", stranger)
        self.assert_honest_peers_are_served()

    def test_a_frame_that_is_too_long(self):
        stranger = self.connect()
        stranger.sendall(hello() + struct.pack("<IBBI", 1 << 31, MESSAGE, 0, 0))
        self.assert_refused("has 2147483648 bytes, more than 65536", stranger)
        self.assert_honest_peers_are_served()

    def test_a_message_that_is_too_long(self):
        stranger = self.connect()
        try:
            stranger.sendall(hello() + frame(MESSAGE, bytes(65536), MORE) * 40)
        except OSError:
            pass  # it was refused before all was sent
        self.assert_refused("a message has more than 2097152 bytes", stranger)
        self.assert_honest_peers_are_served()

    def test_a_message_that_is_none(self):
        stranger = self.connect()
        stranger.sendall(hello() + frame(MESSAGE, b"\xff" * 100))
        self.daemon.wait_for("warn node: message refused")
        self.assert_honest_peers_are_served()

    def test_a_handshake_that_is_played_again(self):
        session = recorded_session(self.plain(), tls_context(self.folder), hello())
        self.daemon.wait_for("info transport: connected")
        again = self.plain()
        again.sendall(session)  # the certificate and its proof are those of another conversation
        self.assert_refused("it broke the rules of TLS", again)
        self.assert_honest_peers_are_served()

    def test_a_slow_sender(self):
        stranger = self.plain()
        try:
            for byte in b"\x16\x03\x01\x02\x00\x01" * 100:  # the beginning of TLS, and never more than that
                stranger.sendall(bytes([byte]))
                if "did not complete the handshake" in self.daemon.log:
                    break
                time.sleep(0.2)
        except OSError:
            pass
        self.assert_refused("it did not complete the handshake within 10000 ms", stranger)
        self.assert_honest_peers_are_served()


class StateFolder(EndToEnd):
    def test_has_one_daemon_which_starts_anew_beside_damaged_records(self):
        state = self.folder / "state"
        first = Daemon(state)
        self.addCleanup(first.stop)
        second = subprocess.run([DAEMON, "--state", state], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertNotEqual(second.returncode, 0)
        self.assertRegex(second.stderr, rf"another daemon \(process {first.process.pid}\) uses")
        self.assertEqual(first.stop(), 0)
        for path in state.glob("records.db*"):
            path.unlink()
        (state / "records.db").write_bytes(b"x" * 10000)
        third = Daemon(state)
        self.addCleanup(third.stop)
        self.assertRegex(third.log, "damaged")
        self.assertEqual((state / "records.db.damaged").read_bytes(), b"x" * 10000)

    def test_a_wrong_option_is_one_sentence(self):
        done = subprocess.run([DAEMON, "--lisen", "x"], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no option '--lisen'", done.stderr)


if __name__ == "__main__":
    unittest.main()
