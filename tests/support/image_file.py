"""A third, deliberately plain reader of docs/image-format.md, to look into images without the code under test."""

import struct
from dataclasses import dataclass
from pathlib import Path

HEAD_BYTES = 152
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
        memory_pages = struct.unpack_from("<I", data, 92)[0]
        job_bytes, = struct.unpack_from("<I", data, 100)
        module_bytes, wasi_bytes, global_count, page_count = struct.unpack_from("<4I", data, 136)
        at = HEAD_BYTES
        wasi_state = data[at:at + wasi_bytes]
        at += wasi_bytes + job_bytes
        global_bytes = data[at:at + 17 * global_count]
        at += 17 * global_count
        pages = {}
        for _ in range(page_count):
            pages[struct.unpack_from("<I", data, at)[0]] = data[at + 12:at + 44].hex()
            at += 44
        return ImageFile(memory_pages, pages, global_bytes, wasi_state, module_bytes)
