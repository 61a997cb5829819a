"""Sources of real programs, from Debian's archive by apt, in lists and folders of their own: nothing of the system's is touched."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support.harness import SCRATCH

FOLDER = SCRATCH / "debian"
ETC = Path("/etc/apt")
TIMEOUT_SECONDS = 120


def _write_source_lists(folder: Path) -> bool:
    """The lists of this machine, asking for sources instead of packages. False: it has none."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in [ETC / "sources.list", *ETC.glob("sources.list.d/*.list"), *ETC.glob("sources.list.d/*.sources")]:
        if path.is_file():
            text = re.sub(r"(?m)^Types:.*$", "Types: deb-src", path.read_text())
            (folder / path.name).write_text(re.sub(r"(?m)^deb\s", "deb-src ", text))
    return any(folder.iterdir())


def _apt_get(*words: str) -> subprocess.CompletedProcess:
    places = [f"Dir::Etc::SourceList=/dev/null", f"Dir::Etc::SourceParts={FOLDER}/parts", f"Dir::State::Lists={FOLDER}/lists",
              f"Dir::Cache={FOLDER}/cache"]
    if os.getuid() == 0:
        places.append("APT::Sandbox::User=root")  # the folder is not for others
    options = [word for place in places for word in ("-o", place)]
    return subprocess.run(["apt-get", "-q", *options, *words], cwd=FOLDER, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)


def fetch(packages: list[str]) -> Path:
    """A folder with the unpacked original source of each package in a folder of its name. Kept between runs of the tests.

    Skips the test where the archive cannot be had: without a network there is nothing to test.
    """
    missing = [name for name in packages if not (FOLDER / name).is_dir()]
    if not missing:
        return FOLDER
    if shutil.which("apt-get") is None or not _write_source_lists(FOLDER / "parts"):
        raise unittest.SkipTest("this machine has no apt with sources to fetch real programs from")
    for folder in ("lists/partial", "cache/archives/partial"):
        (FOLDER / folder).mkdir(parents=True, exist_ok=True)
    for step in (("update",), ("source", "--download-only", *missing)):
        try:
            done = _apt_get(*step)
        except subprocess.TimeoutExpired as slow:
            raise unittest.SkipTest(f"Debian's sources cannot be fetched in time: {slow}") from slow
        if done.returncode != 0:
            raise unittest.SkipTest(f"Debian's sources cannot be fetched: {done.stderr.strip()[-300:]}")
    for name in missing:
        _unpack(name)
    return FOLDER


def _unpack(name: str) -> None:
    archives = sorted(path for path in FOLDER.glob(f"*{name}_*.orig.tar.*") if path.suffix != ".asc")
    if len(archives) != 1:
        raise AssertionError(f"{name} has {len(archives)} original archives")
    building = FOLDER / f"{name}.{os.getpid()}"
    building.mkdir()
    subprocess.run(["tar", "xf", archives[0], "--strip-components=1", "-C", building], check=True)
    building.rename(FOLDER / name)
