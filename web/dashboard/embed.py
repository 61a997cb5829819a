#!/usr/bin/env python3
"""Writes a C++ source that holds the files of a folder: embed.py FOLDER OUTPUT. Defines web_pages() of src/daemon/web_pages.h."""

import gzip
import hashlib
import re
import sys
from pathlib import Path

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml", ".png": "image/png", ".txt": "text/plain; charset=utf-8"}
HASHED = re.compile(r"^/assets/.+-[\w-]{8}\.\w+$")  # Vite's names: another content has another name


def array(name: str, data: bytes) -> str:
    lines = [",".join(map(str, data[at:at + 40])) for at in range(0, len(data), 40)]
    return f"constexpr unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main() -> None:
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    arrays, rows = [], []
    for number, file in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
        data = file.read_bytes()
        packed = gzip.compress(data, 9, mtime=0)
        path = "/" + file.relative_to(folder).as_posix()
        life = "lasting" if HASHED.match(path) else "checked"
        etag = hashlib.sha256(data).hexdigest()[:16]
        arrays += [array(f"kPlain{number}", data), array(f"kPacked{number}", packed)]
        rows.append(f'    {{"{path}", "{TYPES[file.suffix]}", "\\"{etag}\\"", WebPage::Life::{life}, '
                    f"text_of(kPlain{number}), text_of(kPacked{number})}},\n")
    output.write_text(
        '#include "daemon/web_pages.h"\n\nnamespace gw::daemon {\nnamespace {\n\nusing gateway::WebPage;\n\n'
        "template <std::size_t Size>\nstd::string_view text_of(const unsigned char (&bytes)[Size]) {\n"
        "  return {reinterpret_cast<const char*>(bytes), Size};\n}\n\n" + "".join(arrays) +
        "\nconst WebPage kPages[] = {\n" + "".join(rows) + "};\n\n}  // namespace\n\n"
        "std::span<const WebPage> web_pages() { return kPages; }\n\n}  // namespace gw::daemon\n")


if __name__ == "__main__":
    main()
