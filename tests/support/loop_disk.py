"""Small disks of their own: an ext4 in a file, which can be full and which can lose power."""

import fcntl
import os
import struct
import subprocess
import unittest
from pathlib import Path

_EXT4_IOC_SHUTDOWN = 2 << 30 | 4 << 16 | ord("X") << 8 | 125
_NO_LOG_FLUSH = struct.pack("I", 2)


class LoopDisk:
    """An ext4 of `mib` MiB, mounted at `folder`.

    The journal is committed only when somebody asks for it (commit=300), so that what nobody flushed stays in the page cache for as
    long as a test lasts; a kernel that commits every five seconds would hide most of what a daemon forgets to flush.
    """

    def __init__(self, backing: Path, folder: Path, mib: int):
        if os.geteuid() != 0:
            raise unittest.SkipTest("mounting a disk needs root")
        self._backing, self.folder = backing, folder
        with backing.open("wb") as file:
            file.truncate(mib << 20)
        _run("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0,nodiscard", backing)
        folder.mkdir()
        self._mount()

    def _mount(self) -> None:
        _run("mount", "-o", "loop,commit=300", self._backing, self.folder)

    def _unmount(self) -> None:
        """Lazily: daemons in namespaces of their own may have a copy of the mount, which goes with them."""
        _run("umount", "--lazy", self.folder)

    def lose_power(self) -> None:
        """Nothing written from here on reaches the medium, and what was not flushed before is gone. REQUIRES: no process uses the disk."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, _EXT4_IOC_SHUTDOWN, _NO_LOG_FLUSH)
        finally:
            os.close(handle)
        self._unmount()
        self._take_copy()
        self._mount()

    def _take_copy(self) -> None:
        """The kernel would give a device that is still mounted somewhere, shut down as it is, for the same file again."""
        copy = self._backing.with_suffix(".copy")
        _run("cp", "--sparse=always", self._backing, copy)
        copy.replace(self._backing)

    def free_bytes(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def fill(self, leave_bytes: int = 0) -> None:
        """Somebody else's data takes all room but `leave_bytes`."""
        with (self.folder / "ballast").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, self.free_bytes() - leave_bytes - (64 << 10)))
            for _ in range(32):  # the last blocks, which a large extent does not get; what others free meanwhile stays free
                if self.free_bytes() <= leave_bytes:
                    break
                try:
                    os.write(file.fileno(), bytes(4096))
                    os.fsync(file.fileno())
                except OSError:
                    break

    def make_room(self) -> None:
        (self.folder / "ballast").unlink()

    def close(self) -> None:
        if os.path.ismount(self.folder):
            self._unmount()
        self._backing.unlink(missing_ok=True)


def _run(*words) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
