"""Two runs of one program, one suspended often and one never, have equal images at the same later point."""

import os
import random
import unittest
from pathlib import Path

from support.harness import EXIT_SUSPENDED, EndToEnd, godwit, mobile, show
from support.image_file import PARKED_INPUT, ImageFile
from support.journey import Journey
from support.programs import KERNELS, SOURCE_ROOT

POLLS = 20000
LEGS = 6


class EqualImages(EndToEnd):
    def assert_equal_images(self, one: Path, other: Path):
        a, b = ImageFile.read(one), ImageFile.read(other)
        self.assertEqual(a.memory_pages, b.memory_pages)
        different = [index for index in a.pages.keys() | b.pages.keys() if a.pages.get(index) != b.pages.get(index)]
        self.assertEqual(different, [], "these pages differ")
        self.assertEqual(a.globals.hex(), b.globals.hex())
        self.assertEqual(a.wasi_state.hex(), b.wasi_state.hex())

    def test_at_the_same_poll(self):
        rng = random.Random(5)
        for program in KERNELS:
            with self.subTest(program=program.name):
                module = mobile(program.source, "--poll=counter")
                straight = Journey(self, module, program)
                straight.leg("--suspend-after-polls", str(POLLS))
                undisturbed = self.folder / "undisturbed.image"
                straight.image.rename(undisturbed)
                disturbed = Journey(self, module, program)
                stops = sorted(rng.sample(range(POLLS), LEGS)) + [POLLS]
                for begin, end in zip([0, *stops], stops):
                    disturbed.leg("--suspend-after-polls", str(end - begin))
                self.assert_equal_images(undisturbed, disturbed.image)

    def test_image_show_prints_the_content_of_the_file(self):
        program = KERNELS[0]
        journey = Journey(self, mobile(program.source, "--poll=counter"), program)
        journey.leg("--suspend-after-polls", "1000")
        image, shown = ImageFile.read(journey.image), show(journey.image)
        self.assertEqual({page["index"]: page["hash"] for page in shown["pages"]}, image.pages)
        self.assertEqual(shown["memory_pages"], image.memory_pages)
        self.assertEqual(shown["module_bytes"], image.module_bytes)
        self.assertEqual(shown["file_bytes"], journey.image.stat().st_size)

    def test_where_it_waits_for_input(self):
        """With cell polls, which can be stopped anywhere, the same later point is a read that has to wait."""
        module = mobile(SOURCE_ROOT / "tests/guests/grow_then_read.c")
        undisturbed, disturbed = self.folder / "undisturbed.image", self.folder / "disturbed.image"
        silence, keep_open = os.pipe()
        self.addCleanup(os.close, silence)
        self.addCleanup(os.close, keep_open)
        start = ["run", module, "--seed", "1"]
        self._until_it_waits(start, undisturbed, silence)
        done = godwit(*start, "--suspend-after", "5ms", "--image", disturbed, stdin=silence)
        for _ in range(8):
            self.assertEqual(done.code, EXIT_SUSPENDED, done)
            done = godwit("resume", disturbed, "--suspend-after", "12ms", "--image", disturbed, stdin=silence)
        self._until_it_waits(["resume", disturbed], disturbed, silence)
        self.assert_equal_images(undisturbed, disturbed)

    def _until_it_waits(self, command: list, image: Path, silence: int):
        """Suspends a program so late that it has come to its read."""
        for wait in ("500ms", "2s", "8s", "32s", "128s"):
            done = godwit(*command, "--suspend-after", wait, "--image", image, stdin=silence)
            self.assertEqual(done.code, EXIT_SUSPENDED, done)
            if ImageFile.read(image).parked == PARKED_INPUT:
                return
            command = ["resume", image]
        self.fail("the program has not come to its read after two minutes")


if __name__ == "__main__":
    unittest.main()
