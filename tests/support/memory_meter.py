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


def _mib(pid: int) -> float:
    try:
        return sum(int(kib) for _, kib in _PARTS.findall(Path(f"/proc/{pid}/smaps_rollup").read_text())) / 1024
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0


class MemoryMeter:
    """Looks at all descendants twice a second while it is entered: what is theirs alone and what they share, each page once; no cache of files."""

    def __init__(self):
        self.peak_mib = 0.0
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
            self.peak_mib = max(self.peak_mib, sum(map(_mib, _descendants(os.getpid()))))
