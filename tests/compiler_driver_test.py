"""godwit-cc takes the place of cc: projects with make and configure build unchanged, and what they build can be started."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support.debian_sources import fetch
from support.harness import GODWIT, SCALE, SCRATCH, EndToEnd, run

BIN = GODWIT.parent
TIMEOUT_SECONDS = 1800

MAKEFILE = """\
prog: main.o shapes.o libarea.a
\t$(CXX) $(LDFLAGS) -o $@ main.o shapes.o -L. -larea -lm -pthread
libarea.a: area.o
\t$(AR) cr $@ area.o
\tranlib $@
%.o: %.c
\t$(CC) -O2 -fPIC -MD -c $< -o $@
%.o: %.cpp
\t$(CXX) -O2 -MD -c $< -o $@
"""
MAIN_CPP = """\
#include <cstdio>
#include <stdexcept>
double total(int);
int main(int argc, char** argv) {
  for (int i = 0; i < 4; ++i) {
    try {
      std::printf("%.3f\\n", total(i));
    } catch (const std::exception& e) {
      std::printf("%s %s\\n", e.what(), argc > 1 ? argv[1] : "");
    }
  }
  return 7;
}
"""
SHAPES_CPP = """\
#include <stdexcept>
extern "C" double area(double);
double total(int n) { return n == 2 ? throw std::runtime_error("no two") : area(n); }
"""
AREA_C = "#include <math.h>\ndouble area(double radius) { return M_PI * pow(radius, 2); }\n"

# package, where its configure leaves the program, how it is started, what it prints
PACKAGES = [("hello", "hello", ["--greeting=moved"], b"moved\n"), ("zlib", "example", [], b"zlib version")]


class CompilerDriver(EndToEnd):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}", CC="godwit-cc", CXX="godwit-c++", GODWIT=str(GODWIT),
                                XDG_CACHE_HOME=str(SCRATCH / "cache"))

    def _shell(self, command: str, folder: Path) -> subprocess.CompletedProcess:
        return subprocess.run(["bash", "-c", command], cwd=folder, env=self.environment, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)

    def test_make_builds_objects_an_archive_and_a_program(self):
        for name, text in (("Makefile", MAKEFILE), ("main.cpp", MAIN_CPP), ("shapes.cpp", SHAPES_CPP), ("area.c", AREA_C)):
            (self.folder / name).write_text(text)
        made = self._shell("make -e", self.folder)
        self.assertEqual(made.returncode, 0, made.stderr.decode())
        self.assertIn("area.o:", (self.folder / "area.d").read_text())
        self.assertIn("main.o:", (self.folder / "main.d").read_text())
        expected = b"0.000\n3.142\nno two twice\n28.274\n"
        started = self._shell("./prog twice", self.folder)
        self.assertEqual((started.stdout, started.returncode), (expected, 7), started.stderr.decode())
        done = run([GODWIT, "run", self.folder / "prog", "--", "twice"])
        self.assertEqual((done.out, done.code), (expected, 7), done)

    def test_questions_are_answered_as_by_a_compiler(self):
        self.assertIn(b"clang version 19", self._shell("godwit-cc --version", self.folder).stdout)
        self.assertIn(b"wasm32", self._shell("godwit-cc -dumpmachine", self.folder).stdout)
        self.assertIn(b"__wasm__", self._shell("echo | godwit-c++ -dM -E -x c++ -", self.folder).stdout)

    def test_errors_are_those_of_the_compiler(self):
        (self.folder / "bad.c").write_text("int main(void) { return x; }\n")
        done = self._shell("godwit-cc -c bad.c", self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"undeclared identifier 'x'", done.stderr)

    @unittest.skipIf(SCALE == 1, "takes minutes: part of soak")
    def test_configure_and_make_of_debian_packages(self):
        sources = fetch([name for name, *_ in PACKAGES])
        for name, program, words, printed in PACKAGES:
            with self.subTest(package=name):
                folder = self.folder / name
                shutil.copytree(sources / name, folder)
                made = self._shell("./configure && make", folder)
                self.assertEqual(made.returncode, 0, made.stderr.decode()[-3000:])
                started = self._shell(f"./{program} {' '.join(words)}", folder)
                self.assertTrue(started.stdout.startswith(printed), started)


if __name__ == "__main__":
    unittest.main()
