"""Damage to what a daemon that is down has on its disk: bytes flipped, files cut short or removed."""

import random
import re
from pathlib import Path

_NAMES = re.compile(r"(?<![\w.])[0-9a-f]{2,}(?![\w.])|\d+")  # of what is stored; a folder of many is one kind


def kinds_of_files(state: Path) -> dict[str, list[Path]]:
    """All files of a state folder that hold something, by kind: blobs/*, records.db, and so on."""
    kinds: dict[str, list[Path]] = {}
    for path in sorted(path for path in state.rglob("*") if path.is_file() and path.stat().st_size > 0):
        kinds.setdefault(_NAMES.sub("*", str(path.relative_to(state))), []).append(path)
    return kinds


class Damage:
    """One damaged file, or a tenth of those of its kind where there are many. undo() brings back what was there."""

    def __init__(self, how: str, files: list[Path], rng: random.Random):
        self.how = how
        self.files = rng.sample(files, max(1, len(files) // 10))
        self._before = {path: (path.read_bytes(), path.stat().st_mode & 0o777) for path in self.files}
        for path, (content, _) in self._before.items():
            if how == "remove":
                path.unlink()
            elif how == "cut":
                path.write_bytes(content[: rng.randrange(len(content))])
            else:
                path.write_bytes(self._flipped(content, rng))

    @staticmethod
    def _flipped(content: bytes, rng: random.Random) -> bytes:
        """One byte in a thousand, at least three."""
        changed = bytearray(content)
        for _ in range(max(3, len(content) // 1000)):
            changed[rng.randrange(len(changed))] ^= rng.randint(1, 255)
        return bytes(changed)

    def undo(self) -> None:
        for path, (content, mode) in self._before.items():
            path.write_bytes(content)
            path.chmod(mode)

    def __str__(self) -> str:
        return f"{self.how} {', '.join(path.name for path in self.files[:3])} ({len(self.files)} in all)"
