"""Images that are truncated, damaged, too long, foreign or of another module are refused with one sentence; writing one is atomic."""

import random
import unittest
from pathlib import Path

from support.harness import EXIT_BAD_INPUT, EXIT_SUSPENDED, SCALE, EndToEnd, godwit, mobile
from support.programs import SOURCE_ROOT, Program

PROGRAM = Program("bench/kernels/tuning/mandel.c", ("600",))


class BadImages(EndToEnd):
    def setUp(self):
        super().setUp()
        self.good = self.folder / "good.image"
        done = godwit("run", mobile(PROGRAM.source, "--poll=counter"), "--suspend-after-polls", "500", "--image", self.good, "--", *PROGRAM.args)
        self.assertEqual(done.code, EXIT_SUSPENDED, done)
        self.bytes = self.good.read_bytes()
        self.bad = self.folder / "bad.image"

    def assert_refused(self, content: bytes, what: str):
        self.bad.write_bytes(content)
        for command in (["resume", self.bad], ["image", "show", self.bad]):
            self.assert_one_sentence(command, what)

    def assert_one_sentence(self, command: list, what: str):
        done = godwit(*command)
        self.assertEqual(done.code, EXIT_BAD_INPUT, f"{what}: {done}")
        self.assertEqual(done.out, b"", f"{what}: {done}")
        self.assertEqual(done.err.strip().count("\n"), 0, f"{what}: {done}")
        self.assertGreater(len(done.err), 20, f"{what}: {done}")

    def test_truncated(self):
        for length in (0, 1, 8, 9, 100, 151, 152, 300, len(self.bytes) // 2, len(self.bytes) - 1):
            self.assert_refused(self.bytes[:length], f"first {length} bytes")

    def test_a_flipped_bit(self):
        rng = random.Random(6)
        for _ in range(40 * SCALE):
            # Half of the flips in the first kilobyte, where the structure is.
            at = rng.randrange(1024 if rng.random() < 0.5 else len(self.bytes))
            damaged = bytearray(self.bytes)
            damaged[at] ^= 1 << rng.randrange(8)
            self.assert_refused(bytes(damaged), f"bit flipped in byte {at}")

    def test_something_added(self):
        self.assert_refused(self.bytes + b"\0", "one byte added")
        self.assert_refused(self.bytes + self.bytes, "twice")

    def test_foreign_files(self):
        module = mobile(PROGRAM.source, "--poll=counter")
        for path in (module, SOURCE_ROOT / "Makefile", Path("/dev/null")):
            self.assert_refused(path.read_bytes(), str(path))

    def test_no_file(self):
        self.assert_one_sentence(["resume", self.folder / "missing.image"], "no such file")
        self.assert_one_sentence(["resume", self.folder], "a folder")

    def test_an_image_that_cannot_be_written_leaves_nothing(self):
        target = self.folder / "missing" / "x.image"
        done = godwit("resume", self.good, "--suspend-after-polls", "10", "--image", target)
        self.assertNotIn(done.code, (0, EXIT_SUSPENDED), done)
        self.assertEqual(done.err.strip().count("\n"), 0, done)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["good.image"])

    def test_an_existing_image_is_replaced_whole(self):
        before = self.good.stat().st_ino
        done = godwit("resume", self.good, "--suspend-after-polls", "10", "--image", self.good)
        self.assertEqual(done.code, EXIT_SUSPENDED, done)
        self.assertNotEqual(self.good.stat().st_ino, before, "it was written in place")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["good.image"])


if __name__ == "__main__":
    unittest.main()
