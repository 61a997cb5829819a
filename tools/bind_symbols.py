#!/usr/bin/env python3
"""bind_symbols.py IN OUT: copies a shared library with its references to its own symbols bound.

Debian's libnode and libbinaryen look up tens of thousands of their own C++ symbols by name whenever a program starts, in case another library
defines them too: 40 ms of CPU for each worker, 12 ms for each command. None does. This does afterwards what the linker's -Bsymbolic does at
once: such a relocation becomes a relative one. What must stay common to all libraries keeps its name: symbols defined elsewhere, unique ones
(STB_GNU_UNIQUE), thread-local ones and indirect functions.
"""

import os
import struct
import sys

PT_LOAD, PT_DYNAMIC = 1, 2
DT_PLTRELSZ, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL, DT_FLAGS = 2, 6, 7, 8, 23, 30
DF_BIND_NOW = 8
R_64, R_GLOB_DAT, R_JUMP_SLOT, R_RELATIVE = 1, 6, 7, 8
SHN_UNDEF, SHN_LORESERVE = 0, 0xFF00
STB_GNU_UNIQUE = 10
STT_TLS, STT_GNU_IFUNC = 6, 10

PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")  # type, flags, offset, address, physical, bytes in file, bytes in memory, alignment
DYNAMIC = struct.Struct("<QQ")  # tag, value
RELOCATION = struct.Struct("<QQq")  # where, symbol << 32 | type, addend
SYMBOL = struct.Struct("<IBBHQQ")  # name, binding << 4 | type, visibility, section, value, size


class Library:
    def __init__(self, image: bytearray):
        if image[:6] != b"\x7fELF\x02\x01" or image[18:20] != b"\x3e\x00":
            raise SystemExit("this is no x86-64 ELF library")
        self.image = image
        (table,), (size, count) = struct.unpack_from("<Q", image, 32), struct.unpack_from("<HH", image, 54)
        headers = [PROGRAM_HEADER.unpack_from(image, table + size * i) for i in range(count)]
        self.segments = [(address, offset, length) for kind, _, offset, address, _, length, _, _ in headers if kind == PT_LOAD]
        dynamic = next((offset, length) for kind, _, offset, _, _, length, _, _ in headers if kind == PT_DYNAMIC)
        self.dynamic = dict(DYNAMIC.iter_unpack(image[dynamic[0] : sum(dynamic)]))

    def offset(self, address: int) -> int:
        return next(address - start + offset for start, offset, length in self.segments if start <= address < start + length)

    def bind(self) -> int:
        """Returns how many relocations became relative."""
        symbols = self.offset(self.dynamic[DT_SYMTAB])
        bound = 0
        tables = [(DT_RELA, DT_RELASZ)]
        if self.dynamic.get(DT_FLAGS, 0) & DF_BIND_NOW:  # else calls are bound when they are first made, which takes nothing but jump slots
            tables.append((DT_JMPREL, DT_PLTRELSZ))
        for table, length in tables:
            start = self.offset(self.dynamic[table])
            for at in range(start, start + self.dynamic[length], RELOCATION.size):
                where, info, addend = RELOCATION.unpack_from(self.image, at)
                kind, symbol = info & 0xFFFFFFFF, info >> 32
                if kind not in (R_64, R_GLOB_DAT, R_JUMP_SLOT):
                    continue
                value = self.own_value(symbols + symbol * SYMBOL.size)
                if value is None:
                    continue
                RELOCATION.pack_into(self.image, at, where, R_RELATIVE, value + (addend if kind == R_64 else 0))
                bound += 1
        return bound

    def own_value(self, at: int) -> int | None:
        _, info, _, section, value, _ = SYMBOL.unpack_from(self.image, at)
        is_own = SHN_UNDEF < section < SHN_LORESERVE and info >> 4 != STB_GNU_UNIQUE and info & 15 not in (STT_TLS, STT_GNU_IFUNC)
        return value if is_own else None


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        library = Library(bytearray(file.read()))
    bound = library.bind()
    if bound == 0:
        raise SystemExit(f"{source} has nothing to bind: is it linked with -Bsymbolic by now?")
    draft = f"{target}.{os.getpid()}"
    with open(draft, "wb") as file:
        file.write(library.image)
    os.rename(draft, target)
    print(f"bind_symbols: {bound} of {os.path.basename(source)}")


if __name__ == "__main__":
    main()
