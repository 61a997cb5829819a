#!/usr/bin/env python3
"""Fails when a file under src/ includes something that tools/layers.txt does not allow it to."""

import fnmatch
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "tools" / "layers.txt"
INCLUDE = re.compile(r'\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def read_rules():
    """Returns ({folder: folders it may include}, [(header patterns, patterns of files that may include them)])."""
    folders, restricted = {}, []
    for line in RULES.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("<"):
            headers, files = line.split(" only ")
            restricted.append(([h.strip("<>") for h in headers.split()], files.split()))
        elif line:
            name, allowed = line.split(":")
            folders[name.strip()] = set(allowed.split()) | {name.strip()}
    return folders, restricted


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def complaint(path, own, system, folders, restricted):
    """Says what is wrong with one include of the file `path`, or returns None."""
    folder = path.split("/")[1]
    if own:
        target = own.split("/")[0]
        if "/" not in own or target not in folders:
            return f'"{own}": write "folder/file.h" for a folder of src, and <...> for everything else'
        if target not in folders[folder]:
            return f"{folder} may not include {target}"
        return None
    for headers, files in restricted:
        if matches(system, headers) and not matches(path, files):
            return f"<{system}> only in {' '.join(files)}"
    return None


def main():
    folders, restricted = read_rules()
    complaints = []
    for file in sorted(ROOT.glob("src/**/*")):
        if file.suffix not in (".h", ".cc"):
            continue
        path = file.relative_to(ROOT).as_posix()
        if path.split("/")[1] not in folders:
            complaints.append(f"{path}: its folder has no line in tools/layers.txt")
            continue
        for number, text in enumerate(file.read_text().splitlines(), 1):
            include = INCLUDE.match(text)
            wrong = include and complaint(path, include[1], include[2], folders, restricted)
            if wrong:
                complaints.append(f"{path}:{number}: {wrong}")
    print("\n".join(complaints) or "layers: ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
