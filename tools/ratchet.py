#!/usr/bin/env python3
"""Fails when a file has more than 600 lines or a function more than 70.

What is already too long stands in tools/ratchet.txt with its length, which may only shrink: a line there that is no longer
needed, or larger than the truth, fails too.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / "tools" / "ratchet.txt"
MAX_FILE, MAX_FUNCTION = 600, 70
SUFFIXES = (".h", ".cc", ".c", ".cpp", ".py", ".mjs", ".js", ".rs")


def source_files():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(name for name in set(listed) if name.endswith(SUFFIXES) and (ROOT / name).is_file())


def function_lengths(files):
    """Yields (file:function, lines)."""
    command = ["ctags-universal", "--output-format=json", "--fields=+ne", "--kinds-C=f", "--kinds-C++=f", "-L", "-", "-f", "-"]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, input="\n".join(files))
    for line in run.stdout.splitlines():
        tag = json.loads(line)
        if tag.get("kind") in ("function", "method", "member") and "end" in tag:
            yield f"{tag['path']}:{tag['name']}", tag["end"] - tag["line"] + 1


def too_long(files):
    found = {}
    for name in files:
        lines = len((ROOT / name).read_text(errors="replace").splitlines())
        if lines > MAX_FILE:
            found[name] = lines
    for name, lines in function_lengths(files):
        if lines > MAX_FUNCTION:
            found[name] = max(lines, found.get(name, 0))
    return found


def read_known():
    known = {}
    for line in KNOWN.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            lines, name = line.split(None, 1)
            known[name] = int(lines)
    return known


def main():
    found, known = too_long(source_files()), read_known()
    complaints = [f"{name}: {lines} lines, split it by concept (limits: file {MAX_FILE}, function {MAX_FUNCTION})"
                  for name, lines in sorted(found.items()) if lines > known.get(name, 0)]
    complaints += [f"tools/ratchet.txt: {name} has {found.get(name, 0)} lines now, not {lines}: lower or remove its line"
                   for name, lines in sorted(known.items()) if lines > found.get(name, 0)]
    print("\n".join(complaints) or "ratchet: ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
