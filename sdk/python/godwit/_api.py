"""The HTTP API of a daemon on its unix socket: docs/api."""

from __future__ import annotations

import http.client
import json
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class GodwitError(Exception):
    """A request that was refused, or a command that failed, with the sentence that says why."""


def default_socket() -> Path:
    """Where the command line finds the daemon: $GODWIT_SOCKET, else in the user's runtime folder, else in the state folder."""
    named = os.environ.get("GODWIT_SOCKET", "auto")
    if named != "auto":
        return Path(named)
    home = Path(os.environ.get("HOME", "/"))
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(runtime) if runtime else Path(os.environ.get("XDG_STATE_HOME") or home / ".local/state")
    return folder / "godwit" / "socket"


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path):
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self._path))


class Api:
    """Requests to one daemon. Each has a connection of its own, so one object serves all threads."""

    def __init__(self, path: Path):
        self.path = path

    def _ask(self, method: str, target: str) -> tuple[_Connection, http.client.HTTPResponse]:
        connection = _Connection(self.path)
        try:
            connection.request(method, target)
            answer = connection.getresponse()
        except OSError as error:
            connection.close()
            raise GodwitError(f"no daemon answers at {self.path}: {error.strerror or error}; start one with 'godwit up'") from error
        if answer.status >= 400:
            text = answer.read().decode(errors="replace")
            connection.close()
            try:
                said = json.loads(text)
                text = said["error"]["message"]
            except (ValueError, KeyError, TypeError):
                pass
            raise GodwitError(text)
        return connection, answer

    def read(self, method: str, target: str) -> bytes:
        connection, answer = self._ask(method, target)
        try:
            return answer.read()
        finally:
            connection.close()

    def json(self, method: str, target: str) -> Any:
        return json.loads(self.read(method, target))

    def lines(self, target: str) -> Iterator[Any]:
        """JSON objects, one per line, as they come."""
        connection, answer = self._ask("GET", target)
        try:
            while line := answer.readline():
                yield json.loads(line)
        finally:
            connection.close()

    def frames(self, target: str) -> Iterator[OutputFrame]:
        content = self.read("GET", target)
        at = 0
        while at < len(content):
            (size,) = struct.unpack_from("<I", content, at)
            yield OutputFrame(content[at + 4 : at + 4 + size])
            at += 4 + size


class OutputFrame:
    """Bytes that one task has printed: an OutputFrame of src/wire/job_spec.proto."""

    def __init__(self, encoded: bytes):
        self.task, self.stream, self.bytes = 0, 1, b""
        at = 0
        while at < len(encoded):
            key, at = _varint(encoded, at)
            value: int | bytes
            if key & 7 == 2:
                size, at = _varint(encoded, at)
                value, at = encoded[at : at + size], at + size
            else:
                value, at = _varint(encoded, at)
            if key >> 3 == 2 and isinstance(value, int):
                self.task = value >> 1 ^ -(value & 1)
            elif key >> 3 == 3 and isinstance(value, int):
                self.stream = value
            elif key >> 3 == 4 and isinstance(value, bytes):
                self.bytes = value


def _varint(encoded: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = encoded[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
