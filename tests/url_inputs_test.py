"""Inputs that are named by a URL: the daemon fetches them in ranges, and not from where it must not.

`make soak` fetches a file of 120 MiB.
"""

import http.server
import os
import re
import ssl
import subprocess
import threading
import unittest
from unittest import mock

from support.harness import SCALE, EndToEnd, mobile, native
from support.local_daemon import LocalDaemon
from support.programs import SOURCE_ROOT

READ_ALL = SOURCE_ROOT / "bench/probes/read_all.c"
MIB = 1 << 20


class Files(http.server.BaseHTTPRequestHandler):
    """Serves ranges of `content`, as the name of the file says."""

    protocol_version = "HTTP/1.1"
    content = os.urandom(6 * SCALE * MIB + 17)
    changes = 0
    ranges: list[str] = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        Files.ranges.append(self.headers.get("Range", ""))
        if self.path.startswith("/away"):
            where = {"/away": "/whole.bin", "/away-metadata": "https://169.254.169.254/x", "/away-plain": "http://localhost/x",
                     "/away-round": "/away-round"}[self.path]
            return self.answer(302, b"", {"Location": where})
        if self.path == "/small.txt":  # a server that knows no ranges
            return self.answer(200, b"small\n", {})
        if self.path not in ("/whole.bin", "/changing.bin"):
            return self.answer(404, b"", {})
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
        part = Files.content[first:last + 1]
        Files.changes += self.path == "/changing.bin"
        self.answer(206, part, {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(Files.content)}", "ETag": f'"v{Files.changes}"'})

    def answer(self, status: int, body: bytes, headers: dict) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True


class UrlInputsTest(EndToEnd):
    def setUp(self):
        super().setUp()
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.where = f"https://localhost:{server.server_port}"
        self.trust = {"SSL_CERT_FILE": str(certificate)}
        Files.ranges.clear()

    def daemon(self, *options, trust: bool = True) -> LocalDaemon:
        with mock.patch.dict(os.environ, self.trust if trust else {}):
            return LocalDaemon(self, *options)

    def read(self, daemon: LocalDaemon, url: str, *names: str) -> subprocess.CompletedProcess:
        return daemon.ask("run", mobile(READ_ALL), "--workers", 1, "--input", url, "--", *names)

    def test_a_file_is_fetched_in_ranges(self):
        daemon = self.daemon("--fetch-private", "on")
        (self.folder / "whole.bin").write_bytes(Files.content)
        expected = subprocess.run([native(READ_ALL), self.folder / "whole.bin"], check=True, capture_output=True, text=True).stdout
        done = self.read(daemon, f"{self.where}/whole.bin", "/whole.bin")
        self.assertEqual((done.returncode, done.stdout), (0, expected), f"{done}\n{daemon.log()}")
        self.assertEqual(Files.ranges, [f"bytes={at}-{at + 4 * MIB - 1}" for at in range(0, len(Files.content), 4 * MIB)])
        done = self.read(daemon, f"{self.where}/away:/other/name", "/other/name")
        self.assertEqual((done.returncode, done.stdout), (0, expected), f"{done}\n{daemon.log()}")
        done = self.read(daemon, f"{self.where}/small.txt", "/small.txt")
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "6"), f"{done}\n{daemon.log()}")

    def test_what_cannot_be_fetched_is_said(self):
        daemon = self.daemon("--fetch-private", "on")
        for path, sentence in (("/missing.bin", "no such file"), ("/changing.bin", "has changed"), ("/away-plain:/x", "begins with https://"),
                               ("/away-round:/x", "redirects")):
            done = self.read(daemon, self.where + path, "/x")
            self.assertNotEqual(done.returncode, 0, done)
            self.assertIn(sentence, done.stderr)

    def test_private_addresses_are_not_reached(self):
        daemon = self.daemon()
        for url in (f"{self.where}/whole.bin", self.where.replace("localhost", "127.0.0.1") + "/whole.bin"):
            done = self.read(daemon, url, "/whole.bin")
            self.assertNotEqual(done.returncode, 0, done)
            self.assertIn("not an address of the public internet", done.stderr)
        self.assertEqual(Files.ranges, [])

    def test_a_certificate_that_is_not_trusted_is_refused(self):
        done = self.read(self.daemon("--fetch-private", "on", trust=False), f"{self.where}/whole.bin", "/whole.bin")
        self.assertNotEqual(done.returncode, 0, done)
        self.assertIn("certificate", done.stderr)
        self.assertEqual(Files.ranges, [])


if __name__ == "__main__":
    unittest.main()
