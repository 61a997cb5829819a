"""What somebody who is no honest peer says to a daemon."""

import socket
import ssl
import struct
import subprocess
from pathlib import Path

HELLO, MESSAGE = 1, 2  # kinds of frames, transport/connection/frame.h
MORE = 2


def frame(kind: int, payload: bytes, flags: int = 0) -> bytes:
    return struct.pack("<IBBI", len(payload), kind, flags, 0) + payload


def hello() -> bytes:
    return frame(HELLO, struct.pack("<HQ", 1, 1))


def tls_context(folder: Path, algorithm: str = "ed25519") -> ssl.SSLContext:
    """With a certificate of its own, and no doubts about that of others."""
    key, certificate = folder / f"{algorithm}.key", folder / f"{algorithm}.pem"
    if not key.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", algorithm, "-nodes", "-keyout", key, "-out", certificate, "-subj", "/CN=x", "-days", "2"],
                       check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(certificate, key)
    return context


def recorded_session(plain: socket.socket, context: ssl.SSLContext, words: bytes) -> bytes:
    """Says `words` over TLS, and gives all bytes that went over the wire for it."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing)
    recording = b""

    def flush() -> None:
        nonlocal recording
        said = outgoing.read()
        recording += said
        plain.sendall(said)

    while True:
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            flush()
            incoming.write(plain.recv(65536))
    tls.write(words)
    flush()
    return recording
