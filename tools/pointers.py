#!/usr/bin/env python3
"""Fails when a document points to a file that is not there, or to a function that is not in that file.

A pointer is a word in backquotes: `job/home/home.cc`, `polls.cc`, `wire/*.cc`, `toolchain/build.cc:build`. Design documents are
left out: they say what was decided then.
"""

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
POINTER = re.compile(r"`([\w./*-]+\.(?:cc|h|hpp|c|cpp|py|mjs|proto|toml|yaml))(?::([\w:~]+))?`")
# Of the user's own, or made by the program; not in this repository.
EXAMPLES = re.compile(r"^(\.|~|/)|^(config\.toml|godwit\.toml|render\.cpp|nbody\.c|hello\.c|x(_test)?\.\w+)$")


def tracked() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> int:
    files = tracked()
    wrong = []
    for document in (name for name in files if name.endswith(".md") and not name.startswith("docs/design/")):
        for number, line in enumerate((ROOT / document).read_text().splitlines(), 1):
            for path, function in POINTER.findall(line):
                if EXAMPLES.match(path):
                    continue
                found = [name for name in files if fnmatch.fnmatch(f"/{name}", f"*/{path}")]
                last = function.split("::")[-1]
                if not found:
                    wrong.append(f"{document}:{number}: there is no {path}")
                elif last and not any(re.search(rf"\b{re.escape(last)}\b", (ROOT / name).read_text()) for name in found):
                    wrong.append(f"{document}:{number}: there is no {function} in {path}")
    print("\n".join(wrong) if wrong else "pointers: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
