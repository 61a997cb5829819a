"""A third, deliberately plain reader of docs/image-format.md, to look into images without the code under test."""

import struct
from dataclasses import dataclass
from pathlib import Path

HEAD_BYTES = 64
ROOT_HEAD_BYTES = 60
STATE_IN_ROOT = 32768
PIECE_BYTES = 65536
PARKED_INPUT = 2


@dataclass(frozen=True)
class ImageFile:
    memory_pages: int
    pages: dict[int, str]  # index to hash
    globals: bytes
    wasi_state: bytes
    module_bytes: int

    @property
    def parked(self) -> int:
        return self.wasi_state[1]

    @staticmethod
    def read(path: Path) -> "ImageFile":
        data = path.read_bytes()
        if data[:8] != b"GWIMAGE\0":
            raise ValueError(f"{path} is not an image")
        root_bytes, = struct.unpack_from("<I", data, 12)
        module_bytes, = struct.unpack_from("<I", data, 56)
        root = data[HEAD_BYTES:HEAD_BYTES + root_bytes]
        parts = _read_pack(data[HEAD_BYTES + root_bytes + module_bytes:])
        memory_pages, _, wasi_bytes, job_bytes, global_count, node_count = struct.unpack_from("<6I", root, 36)
        at = ROOT_HEAD_BYTES
        wasi_state, at = _read_state(root, at, wasi_bytes, parts)
        _, at = _read_state(root, at, job_bytes, parts)
        global_bytes = root[at:at + 17 * global_count]
        at += 17 * global_count
        pages = {}
        for _ in range(node_count):
            number, = struct.unpack_from("<I", root, at)
            node = parts[root[at + 4:at + 36]]
            places = [place for place in range(256) if node[place // 8] >> place % 8 & 1]
            for nth, place in enumerate(places):
                pages[256 * number + place] = node[32 + 32 * nth:64 + 32 * nth].hex()
            at += 36
        return ImageFile(memory_pages, pages, global_bytes, wasi_state, module_bytes)


def _read_pack(pack: bytes) -> dict[bytes, bytes]:
    """The parts by hash, as they are stored."""
    count, = struct.unpack_from("<I", pack, 8)
    parts, at = {}, 12 + 37 * count
    for entry in range(12, at, 37):
        size, = struct.unpack_from("<I", pack, entry + 33)
        parts[pack[entry:entry + 32]] = pack[at:at + size]
        at += size
    return parts


def _read_state(root: bytes, at: int, size: int, parts: dict[bytes, bytes]) -> tuple[bytes, int]:
    if size <= STATE_IN_ROOT:
        return root[at:at + size], at + size
    end = at + 32 * -(-size // PIECE_BYTES)
    return b"".join(parts[root[hash_at:hash_at + 32]] for hash_at in range(at, end, 32)), end
