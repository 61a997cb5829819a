"""Real programs from Debian's sources, built by `godwit build`, with inputs and outputs, leave the bytes that their native builds leave, also
when they are moved with open files."""

import hashlib
import os
import random
import unittest
from dataclasses import dataclass, field
from pathlib import Path

from support.debian_sources import fetch
from support.harness import GODWIT, SCRATCH, EndToEnd, run
from support.journey import Journey, count_polls
from support.programs import SOURCE_ROOT, Program

PORT = SOURCE_ROOT / "tests/real_programs"
MOVES = 20

# Files written, appended to, read back by lines and by blocks, renamed, removed; an input and an output are open all the time.
LUA_SCRIPT = b"""
local text = assert(io.open("text"))
local log = assert(io.open("out/log", "w"))
local data = assert(io.open("data", "w+b"))
local seed = 42
local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n end
for round = 1, 60 do
  data:seek("set", random(100000))
  data:write(string.rep(string.char(65 + round % 26), 1 + random(3000)))
  log:write(string.format("round %d at %d: %s\\n", round, data:seek(), text:read("l")))
  text:seek("cur", random(4000))
  local name = "out/part" .. random(7)
  local part = assert(io.open(name, "a"))
  part:write(round, " ", round * round, "\\n")
  part:close()
  if round % 9 == 0 then assert(os.rename(name, "renamed" .. round)) end
end
log:flush()
local sum = 0
data:seek("set")
for block in function() return data:read(4096) end do
  for i = 1, #block do sum = (sum * 31 + block:byte(i)) % 2147483647 end
end
print("sum", sum, data:seek("end"), text:seek())
local lines = {}
for line in io.lines("out/log") do lines[#lines + 1] = line end
table.sort(lines)
print(#lines, lines[1], lines[#lines])
for i = 0, 2 do
  local part = io.open("out/part" .. i)
  print(i, part and #part:read("a"), (os.remove("out/part" .. i)))
end
print((select(2, io.open("none"))))
for i = 9, 60, 9 do log:write(io.open("renamed" .. i):read("l"), ";") end
log:close()
"""

BC_SCRIPT = b"""
scale = 60
define a(n) { auto s, t, k; t = 1 / n; s = t; for (k = 3; t != 0; k += 2) { t = -t / (n * n); s += t / k; }; return (s); }
define q(n) { auto i; for (i = 2; i * i <= n; i++) { if (n % i == 0) return (0); }; return (1); }
define p(n) { auto i, c; for (i = 2; c < n; i++) { if (q(i)) { c += 1; if (c % 20 == 0) i } }; return (c); }
4 * (4 * a(5) - a(239))
scale = 0
p(120)
scale = 30
2 ^ 200 % 10 ^ 30
sqrt(2)
obase = 16
2 ^ 64 - 1
"""

_TEXT = b"".join(b"the %d birds fly to the %d islands,\nand the sea is wide\n" % (n, n * n % 977) for n in range(4000))


@dataclass(frozen=True)
class RealProgram:
    package: str
    sources: tuple[str, ...]  # patterns below the folder of the package
    args: tuple[str, ...]
    stdin: bytes = b""
    inputs: dict[str, bytes] = field(default_factory=dict)  # files it is started with; it may leave others below `out`
    flags: tuple[str, ...] = ()
    native_flags: tuple[str, ...] = ()

    def files(self, folder: Path) -> list[Path]:
        return sorted({path for pattern in self.sources for path in folder.glob(pattern)})


LUA = RealProgram("lua5.4", ("src/l[!u]*.c", "src/lu[!a]*.c", "src/lua.c"), ("-",), LUA_SCRIPT, {"text": _TEXT})
ZSTD = RealProgram("zstd", ("programs/zstdcli.c", "programs/util.c", "programs/timefn.c", "programs/fileio*.c", "lib/common/*.c",
                            "lib/compress/*.c", "lib/decompress/*.c"), ("-q", "-7", "text", "-o", "out/text.zst"), inputs={"text": _TEXT},
                   # zstd knows Unix by the name of the system; a builder for another one says which POSIX it has.
                   flags=("-Ilib", "-Ilib/common", "-DZSTD_NOBENCH", "-DZSTD_NODICT", "-DZSTD_NOTRACE", "-DPLATFORM_POSIX_VERSION=200112L"),
                   native_flags=("-DZSTD_DISABLE_ASM",))
# bc keeps its script open while it runs, and cannot write files.
BC = RealProgram("bc", ("bc/bc.c", "bc/execute.c", "bc/global.c", "bc/load.c", "bc/main.c", "bc/scan.c", "bc/storage.c", "bc/util.c",
                        "bc/warranty.c", "lib/number.c", "lib/getopt*.c"), ("-q", "script.bc"), b"7 * 191\n", {"script.bc": BC_SCRIPT},
                 flags=(f"-I{PORT}/bc", "-Ih", "-Ibc"))


class RealPrograms(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.folder_of_all = fetch([program.package for program in (LUA, ZSTD, BC)])

    def test_lua(self):
        left = self._compare(LUA)
        self.assertEqual(left["log"].count(b"round"), 60)

    def test_zstd(self):
        self.assertLess(len(self._compare(ZSTD)["text.zst"]), len(_TEXT) // 5)

    def test_bc(self):
        printed = self._compare(BC)["(stdout)"]
        self.assertIn(b"3.14159265358979323846264338327950288419716939937510", printed)

    def _compare(self, program: RealProgram) -> dict[str, bytes]:
        """Runs it natively and moved from process to process; returns what it left, which must be the same."""
        native = self._place(program, "native")
        printed = run([self._native(program), *program.args], stdin=program.stdin, check=True, folder=native).out
        expected = self._left(native, printed)
        module = self._module(program)
        how = Program(program.package, program.args, program.stdin)
        mounts = tuple(word for name in program.inputs for word in ("--input", name)) + ("--output", "out")
        calm, moved = self._place(program, "calm"), self._place(program, "moved")
        undisturbed = count_polls(self, module, how, mounts, calm)
        self._assert_same(self._left(calm, undisturbed.out), expected, f"{program.package} undisturbed")
        journey = Journey(self, module, how, mounts, moved)
        # Together about three quarters of the way, so that all of them come before the end.
        rng = random.Random(9)
        for _ in range(MOVES):
            journey.leg("--suspend-after-polls", str(rng.randint(0, 3 * undisturbed.polls // (2 * MOVES))))
        self.assertEqual(journey.moves, MOVES)
        journey.leg()
        self._assert_same(self._left(moved, journey.out), expected, f"{program.package} after {MOVES} moves")
        return expected

    def _place(self, program: RealProgram, name: str) -> Path:
        """A folder with its inputs, to be run in; there and in its isolate they have the same names."""
        place = self.folder / name
        (place / "out").mkdir(parents=True)
        for file, content in program.inputs.items():
            (place / file).write_bytes(content)
        return place

    def _left(self, place: Path, printed: bytes) -> dict[str, bytes]:
        return {"(stdout)": printed, **{path.name: path.read_bytes() for path in (place / "out").iterdir()}}

    def _assert_same(self, got: dict[str, bytes], expected: dict[str, bytes], context: str) -> None:
        self.assertEqual(sorted(got), sorted(expected), context)
        for name, content in expected.items():
            self.assert_output(got[name], content, f"{context}: {name}")

    def _module(self, program: RealProgram) -> Path:
        """Built anew by each run of the tests, unless godwit's own cache has it."""
        source = self.folder_of_all / program.package
        module = self.folder / f"{program.package}.wasm"
        words = ["build", *program.files(source), *program.flags, "--cflag=-w", "-O2", "--poll=counter", "--output", module]
        done = run([GODWIT, *words], folder=source)
        self.assertEqual(done.code, 0, done)
        return module

    def _native(self, program: RealProgram) -> Path:
        source = self.folder_of_all / program.package
        key = hashlib.sha256("\0".join([*program.flags, *program.native_flags]).encode()).hexdigest()[:16]
        target = SCRATCH / "native" / f"{program.package}-{key}"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            building = target.with_name(f"{target.name}.{os.getpid()}")
            flags = ["-O1", "-w", *program.flags, *program.native_flags]
            run(["clang-19", *flags, *program.files(source), "-lm", "-o", building], check=True, folder=source)
            building.rename(target)
        return target


if __name__ == "__main__":
    unittest.main()
