"""A crash says what happened, in which functions, and at which lines of the source if the program was built with --debug."""

import json
import re
import unittest
from pathlib import Path

from support.harness import EXIT_SUSPENDED, NODE, EndToEnd, Finished, godwit, run
from support.programs import SOURCE_ROOT

GUESTS = SOURCE_ROOT / "tests/guests/backtrace"
DIVIDE = GUESTS / "divide.c"
THROWS = GUESTS / "throws.cpp"
RESUME_IN_NODE = SOURCE_ROOT / "web/resume.mjs"
HINT = "Build with --debug to see files and lines."
SIGABRT_EXIT = 128 + 6


def line_of(source: Path, text: str) -> int:
    """The number of the first line that has this text."""
    return next(number for number, line in enumerate(source.read_text().splitlines(), 1) if text in line)


def frames(done: Finished) -> list[str]:
    """The lines of the backtrace, without their indentation and the folder of the source."""
    lines = done.err.splitlines()
    return [line.strip().replace(f"{GUESTS}/", "") for line in lines if line.startswith("  ")]


class Backtrace(EndToEnd):
    def setUp(self):
        super().setUp()
        divide, call, start = (line_of(DIVIDE, text) for text in ("a / b", "total += divide", "return sum(argc"))
        self.divide_frames = [f"at divide (divide.c:{divide})", f"at sum (divide.c:{call})", f"at main (divide.c:{start})"]

    def throws(self, how: str, *options: str) -> Finished:
        return godwit("run", THROWS, *options, "--", how)

    def place(self, function: str, text: str) -> str:
        return f"at {function} (throws.cpp:{line_of(THROWS, text)})"

    def test_has_functions_files_and_lines(self):
        done = godwit("run", DIVIDE, "--debug")
        self.assertIn("the program trapped in divide: integer divide by zero\n", done.err)
        self.assertEqual(frames(done), self.divide_frames, done)

    def test_without_debug_has_functions_and_says_how_to_get_lines(self):
        done = godwit("run", DIVIDE, "-O1")
        self.assertEqual(frames(done), ["at divide", "at sum", "at main", HINT], done)

    def test_of_optimised_code_has_lines_too(self):
        done = godwit("run", DIVIDE, "--debug", "-O1")
        self.assertEqual(frames(done), self.divide_frames, done)

    def test_is_the_same_after_moves(self):
        image = self.folder / "divide.image"
        done = godwit("run", DIVIDE, "--debug", "--suspend-after", "60ms", "--image", image)
        self.assertEqual(done.code, EXIT_SUSPENDED, done)
        copy = self.folder / "copy.image"
        copy.write_bytes(image.read_bytes())
        self.assertEqual(frames(godwit("resume", image)), self.divide_frames)
        self.assertEqual(frames(run([NODE, RESUME_IN_NODE, copy])), self.divide_frames)

    def test_comes_from_a_peer(self):
        done = godwit("run", DIVIDE, "--debug", "--workers", "1")
        self.assertNotEqual(done.code, 0)
        self.assertEqual(frames(done), self.divide_frames, done)

    def test_is_a_list_in_json(self):
        end = json.loads(godwit("run", DIVIDE, "--debug", "-o", "json").out.splitlines()[-1])
        self.assertEqual(end["sentence"], "the program trapped in divide: integer divide by zero")
        self.assertEqual([line.replace(f"{GUESTS}/", "") for line in end["backtrace"]], self.divide_frames)

    def test_is_there_inside_a_handler(self):
        done = self.throws("trap", "--debug")
        self.assertEqual(frames(done), [self.place("handled(int)", "7 / zero"), self.place("main", '"trap"')], done)

    def test_of_abort_begins_with_it(self):
        done = self.throws("abort", "--debug")
        self.assertEqual(done.code, SIGABRT_EXIT, done)
        self.assertIn("exited with code 134 (SIGABRT)", done.err)
        self.assertEqual(frames(done), ["at abort", self.place("aborts(int)", "std::abort"), self.place("main", '"abort"')], done)

    def test_of_an_uncaught_exception_is_that_of_the_throw(self):
        done = self.throws("throw", "--debug")
        self.assertEqual(done.code, SIGABRT_EXIT, done)
        self.assertIn("uncaught exception of type std::out_of_range: too small", done.err)
        self.assertEqual(frames(done), [self.place("at_least(int, int)", "throw std::out"), self.place("main", '"throw"')], done)
        self.assertEqual(frames(self.throws("throw")), ["The exception left main. Build with --debug to see where it was thrown."])

    def test_of_a_limit_says_where_the_program_was(self):
        done = self.throws("spin", "--debug", "--time-limit", "200ms")
        self.assertEqual(frames(done)[-1], self.place("main", '"spin"'), done)
        self.assertRegex(frames(done)[0], r"^at spins\(\) \(throws.cpp:[0-9]+\)$")

    def test_of_a_stack_overflow_is_short(self):
        done = self.throws("recurse", "--debug")
        self.assertIn("stack", done.err)
        self.assertIn("and more", frames(done))
        self.assertTrue(any(re.fullmatch(r"at recurses\(int\) \(throws.cpp:[0-9]+\), [0-9]+ times", line) for line in frames(done)), done)

    def test_debug_needs_a_program_with_lines(self):
        module = self.folder / "plain.wasm"
        godwit("build", DIVIDE, "--output", module, check=True)
        self.assertIn("was built without --debug", godwit("run", module, "--debug").err)
        godwit("build", DIVIDE, "--debug", "--output", module, check=True)
        self.assertEqual(frames(godwit("run", module, "--debug")), self.divide_frames)


if __name__ == "__main__":
    unittest.main()
