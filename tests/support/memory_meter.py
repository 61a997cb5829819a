"""How much memory the processes of a test take together."""

import os
import re
import threading
from pathlib import Path

_PARTS = re.compile(r"^(Pss_Anon|Pss_Shmem):\s+(\d+) kB", re.MULTILINE)


def _descendants(pid: int) -> list[int]:
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        try:
            for thread in os.listdir(f"/proc/{one}/task"):
                children = [int(word) for word in Path(f"/proc/{one}/task/{thread}/children").read_text().split()]
                found += children
                waiting += children
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def _parts(pid: int) -> dict[str, float] | None:
    try:
        parts = _PARTS.findall(Path(f"/proc/{pid}/smaps_rollup").read_text())
        return {name: int(kib) / 1024 for name, kib in parts}
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return "ended"


class MemoryMeter:
    """Looks at all descendants twice a second while it is entered: what is theirs alone and what they share, each page once; no cache of files."""

    def __init__(self):
        self.peak_mib = 0.0
        self.at_peak: list[str] = []  # of each process: its name and what it had
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "MemoryMeter":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.5):
            seen = {pid: parts for pid in _descendants(os.getpid()) if (parts := _parts(pid)) is not None}
            total = sum(sum(parts.values()) for parts in seen.values())
            if total <= self.peak_mib:
                continue
            self.peak_mib = total
            self.at_peak = [f"{_name(pid)} {pid}: " + ", ".join(f"{name} {mib:.0f} MiB" for name, mib in parts.items()) for pid, parts in seen.items()]
