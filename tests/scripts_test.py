"""Scripts run in interpreters that `godwit language add` installs, and move in the middle of their loops, one leg of them in Node.

`make test` does Lua; `make soak` JavaScript and Python too, whose interpreter takes a minute of CPU time to be made mobile.
"""

import json
import os
import time
import unittest
from pathlib import Path

from support.harness import EXIT_BAD_INPUT, GODWIT, SCALE, SCRATCH, EndToEnd, run
from support.journey import Journey
from support.programs import SOURCE_ROOT, Program

LANGUAGES = {"lua": "primes.lua"} if SCALE == 1 else {"lua": "primes.lua", "js": "primes.js", "python": "primes.py"}
PRIMES = 100_000
MOVES = 5
PRINTS_AT_ONCE = ("lua", "python")  # the others may collect some lines first


def expected() -> bytes:
    """By a sieve, which is another way than that of the scripts."""
    end = 14 * PRIMES
    sieve = bytearray([1]) * end
    for p in range(2, int(end ** 0.5) + 1):
        if sieve[p]:
            sieve[p * p::p] = bytes(len(range(p * p, end, p)))
    primes = [candidate for candidate in range(2, end) if sieve[candidate]]
    return b"".join(b"%d\t%d\n" % (count, primes[count - 1]) for count in range(500, PRIMES + 1, 500))


class Scripts(EndToEnd):
    @classmethod
    def setUpClass(cls):
        os.environ["XDG_DATA_HOME"] = str(SCRATCH / "data")  # interpreters are kept between runs of the tests
        cls.expected = expected()
        for name in LANGUAGES:
            listed = {language["name"]: language for language in json.loads(run([GODWIT, "language", "list", "-o", "json"], check=True).out)["languages"]}
            if listed[name]["installed"]:
                continue
            added = run([GODWIT, "language", "add", name], timeout=900)
            if "cannot fetch" in added.err or "cannot read the lists" in added.err:
                raise unittest.SkipTest(f"the interpreter cannot be fetched: {added.err}")
            assert added.code == 0, added

    def test_a_script_moves_in_the_middle_of_its_loop(self):
        for name, script in LANGUAGES.items():
            with self.subTest(language=name):
                self._move(name, SOURCE_ROOT / "examples/scripts" / script)

    def _move(self, name: str, script: Path) -> None:
        """Legs end in the loop, where the script prints; the one in Node, and those of a script that does not print at once, after a small part
        of the time of a run at one go, so that all of them end before the loop does, whatever the speed of the machine."""
        run([GODWIT, "run", script, "--", "500"], check=True)  # compiles the interpreter for this machine
        began = time.monotonic()
        self.assert_output(run([GODWIT, "run", script, "--", PRIMES], check=True).out, self.expected, name)
        leg = max(1, round((time.monotonic() - began) * 1000 / (8 * MOVES)))
        journey = Journey(self, script, Program(script.name, args=(str(PRIMES),)))
        journey.leg_until_it_prints()
        for number in range(1, MOVES):
            if number == 3:
                journey.leg_in_node("--suspend-after", str(leg), "--inputs", script.parent)
            elif name in PRINTS_AT_ONCE:
                journey.leg_until_it_prints()
            else:
                journey.leg("--suspend-after", f"{leg}ms")
            self.assertFalse(journey.ended, f"{name} ended after {journey.moves} moves of {leg} ms")
        journey.leg()
        self.assert_output(journey.out, self.expected, f"{name} after {journey.moves} moves")

    def test_modules_of_a_script_are_inputs(self):
        (self.folder / "util.lua").write_text("return { twice = function(x) return 2 * x end }\n")
        (self.folder / "main.lua").write_text('print(require("util").twice(21), arg[1])\n')
        done = run([GODWIT, "run", "main.lua", "--input", "util.lua", "--", "word"], folder=self.folder)
        self.assertEqual((done.code, done.out), (0, b"42\tword\n"), done)
        done = run([GODWIT, "run", f"{self.folder}/main.lua", "--input", f"{self.folder}", "--env", f"LUA_PATH={self.folder}/?.lua", "--", "again"])
        self.assertEqual((done.code, done.out), (0, b"42\tagain\n"), done)

    def test_an_interpreter_of_the_user(self):
        (self.folder / "script.txt").write_text('io.write("exit code ", arg[1])\nos.exit(7)\n')
        module = SCRATCH / "data/godwit/languages/lua.wasm"
        done = run([GODWIT, "run", "script.txt", "--interpreter", module, "--", "7"], folder=self.folder)
        self.assertEqual((done.code, done.out), (7, b"exit code 7"), done)

    def test_what_is_not_there_is_said(self):
        environment_home = os.environ.pop("XDG_DATA_HOME")
        try:
            os.environ["XDG_DATA_HOME"] = str(self.folder)
            (self.folder / "x.lua").write_text("print(1)\n")
            done = run([GODWIT, "run", self.folder / "x.lua"])
            self.assertIn("godwit language add lua", done.err)
        finally:
            os.environ["XDG_DATA_HOME"] = environment_home
        done = run([GODWIT, "language", "add", "cobol"])
        self.assertIn("choose one of lua, js, python", done.err)
        done = run([GODWIT, "run", self.folder / "x.lua", "-DX=1"])
        self.assertEqual(done.code, EXIT_BAD_INPUT, done)


if __name__ == "__main__":
    unittest.main()
