#!/usr/bin/env python3
"""Fails when the shape of the repository hides its ideas:

- a folder of src, or sim or tests, has no README.md, or one of more than 60 lines;
- a header has a comment that maps declarations to files ("// session_calls.cc"): a class that needs one is several classes;
- the methods of a class are defined in more than one .cc, and ARCHITECTURE.md does not list the class with its reason;
- prose in a document is wider than 100 columns.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_COLUMNS, MAX_README_LINES = 100, 60
FILE_MAP = re.compile(r"^\s*//\s*(?:---\s*)?\w+\.cc\b(?!\.)")
LISTED = re.compile(r"^\| `([\w:]+)` \|")  # in the section "Classes in several files" of ARCHITECTURE.md


def tracked(*patterns: str) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(name for name in set(listed) if (ROOT / name).is_file())


def missing_readmes():
    folders = [f"src/{folder.name}" for folder in sorted((ROOT / "src").iterdir()) if folder.is_dir()]
    for folder in [*folders, "sim", "tests"]:
        readme = ROOT / folder / "README.md"
        if not readme.is_file():
            yield f"{folder}: there is no README.md: name its main abstractions, its main path and its caveats"
        elif len(readme.read_text().splitlines()) > MAX_README_LINES:
            yield f"{folder}/README.md: more than {MAX_README_LINES} lines: leave details to the headers"


def file_maps():
    for file in tracked("*.h"):
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if FILE_MAP.match(line):
                yield f"{file}:{number}: a map of files in a header: split the class by idea"


def sources_of_classes() -> dict[str, set[str]]:
    """Which .cc files define methods of which class, by the full name of the class. Test sources are left out."""
    files = [file for file in tracked("src/*.cc", "sim/*.cc") if not file.endswith("_test.cc")]
    command = ["ctags-universal", "--output-format=json", "--fields=+Z", "--kinds-C++=f", "-L", "-", "-f", "-"]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, input="\n".join(files))
    found = defaultdict(set)
    for line in run.stdout.splitlines():
        tag = json.loads(line)
        scope = tag.get("scope", "").split("::")
        if tag.get("scopeKind") in ("class", "struct") and scope[0] == "gw" and "__anon" not in tag["scope"]:
            found["::".join(scope[1:])].add(tag["path"])
    return found


def spread_classes():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.split("## Classes in several files", 1)[-1].split("\n## ", 1)[0]
    listed = {match.group(1) for line in section.splitlines() if (match := LISTED.match(line))}
    spread = {name: files for name, files in sources_of_classes().items() if len(files) > 1}
    for name in sorted(spread.keys() - listed):
        yield f"{name}: defined in {', '.join(sorted(spread[name]))}: split it, or list it with its reason in ARCHITECTURE.md"
    for name in sorted(listed - spread.keys()):
        yield f"ARCHITECTURE.md: {name} is in one file now: remove it from the list"


def wide_prose():
    for document in tracked("*.md"):
        fenced = False
        for number, line in enumerate((ROOT / document).read_text().splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            verbatim = fenced or line.startswith(("|", "#", "    ")) or not re.search(r"\s", line.strip())
            if not verbatim and len(line) > MAX_COLUMNS:
                yield f"{document}:{number}: {len(line)} columns: wrap prose at {MAX_COLUMNS}"


def main() -> int:
    wrong = [*missing_readmes(), *file_maps(), *spread_classes(), *wide_prose()]
    print("\n".join(wrong) if wrong else "structure: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
