#!/usr/bin/env python3
"""Fails when the code uses a name that docs/glossary.md has retired, or the glossary names a class that does not exist.

Retired names stand in backquotes in the first column of the table "Old names". A comment may use such a word in its ordinary
sense; an identifier may not.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "glossary.md"
CODE = ("*.h", "*.cc", "*.c", "*.cpp", "*.proto", "*.mjs", "*.py")
# Comments and literals, which are text and not identifiers.
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
PYTHON_TEXT = re.compile(r'#[^\n]*|""".*?"""|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def tracked(*patterns: str) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(name for name in set(listed) if (ROOT / name).is_file())


def retired_names(glossary: str) -> list[str]:
    table = glossary.split("## Old names", 1)[1]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def retired_uses(names: list[str]):
    pattern = re.compile(r"\b(" + "|".join(names) + r")\b")
    for file in tracked(*CODE):
        code = (PYTHON_TEXT if file.endswith(".py") else TEXT).sub(blank, (ROOT / file).read_text(errors="replace"))
        for number, line in enumerate(code.splitlines(), 1):
            for name in pattern.findall(line):
                yield f"{file}:{number}: '{name}' is an old name: docs/glossary.md has the new one"


def missing_classes(glossary: str):
    for namespace, name in sorted(set(re.findall(r"`(\w+)::(\w+)`", glossary))):
        folder = ROOT / "src" / ("base" if namespace == "gw" else namespace)
        declared = re.compile(rf"\b(class|struct|using) {name}\b")
        if not any(declared.search(header.read_text()) for header in folder.rglob("*.h")):
            yield f"docs/glossary.md: there is no class {namespace}::{name}"


def main() -> int:
    glossary = GLOSSARY.read_text()
    names = retired_names(glossary)
    if not names:
        print("docs/glossary.md: the table of old names is gone")
        return 1
    wrong = [*retired_uses(names), *missing_classes(glossary)]
    print("\n".join(wrong) if wrong else "words: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
