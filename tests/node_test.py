"""Images saved by the native engine continue in Node, and the other way round, with the same output."""

import random
import unittest

from support.harness import NODE, EndToEnd, mobile, native_output, run
from support.journey import RESUME_IN_NODE, Journey
from support.programs import ALL, EXAMPLES, KERNELS, SOURCE_ROOT, Program

POLLS = 3000  # early enough for every program


class ResumedInNode(EndToEnd):
    def test_every_program_started_natively_ends_in_node(self):
        for program in ALL:
            with self.subTest(program=program.name):
                journey = Journey(self, mobile(program.source, "--poll=counter"), program)
                journey.leg("--suspend-after-polls", str(POLLS))
                self._end_in_node(journey, program)

    def test_a_cell_module_suspended_at_any_time_ends_in_node(self):
        for program in EXAMPLES:
            with self.subTest(program=program.name):
                for milliseconds in (10, 3, 0):  # sooner, if it has come to its end before the request
                    journey = Journey(self, mobile(program.source), program)
                    journey.leg("--suspend-after", f"{milliseconds}ms")
                    if not journey.ended:
                        break
                self._end_in_node(journey, program)

    def _end_in_node(self, journey: Journey, program: Program):
        self.assertFalse(journey.ended, "it ended before it could be suspended")
        journey.leg_in_node()
        self.assertTrue(journey.ended)
        self.assert_output(journey.out, native_output(program), program.name)

    def test_to_and_fro_between_the_engines(self):
        rng = random.Random(4)
        for program in KERNELS[::3]:
            with self.subTest(program=program.name):
                journey = Journey(self, mobile(program.source, "--poll=counter"), program)
                journey.leg("--suspend-after-polls", str(POLLS))
                for _ in range(4):
                    if not journey.ended:
                        journey.leg_in_node("--suspend-after-polls", str(rng.randint(0, POLLS)))
                    if not journey.ended:
                        journey.leg("--suspend-after-polls", str(rng.randint(0, POLLS)))
                if not journey.ended:
                    journey.leg()
                self.assertGreater(journey.moves, 2)
                self.assert_output(journey.out, native_output(program), program.name)

    def test_bad_images_get_one_sentence(self):
        bad = self.folder / "bad.image"
        for content in (b"", b"GWIMAGE\0", b"\0asm\1\0\0\0", b"x" * 1000):
            bad.write_bytes(content)
            done = run([NODE, RESUME_IN_NODE, bad])
            self.assertEqual(done.code, 2, done)
            self.assertEqual(done.err.count("\n"), 1, done)
        self.assertEqual(run([NODE, RESUME_IN_NODE, self.folder / "missing"]).code, 2)

    def test_unit_tests_of_the_library(self):
        run([NODE, "--test", SOURCE_ROOT / "web"], check=True)


if __name__ == "__main__":
    unittest.main()
