"""Programs with files print in an isolate what they print natively, wherever they are moved while files and directories are open."""

import random
import tempfile
import unittest
from pathlib import Path

from support.harness import EndToEnd, godwit, mobile, native, run
from support.journey import Journey
from support.programs import SOURCE_ROOT, Program

GUESTS = SOURCE_ROOT / "tests/guests/files"
JOURNEY = Program("tests/guests/files/journey.c", ("60",))
MOVES = 20


def in_empty_folder(source: Path, *args: str) -> bytes:
    """What the program prints natively, started where there are no files."""
    with tempfile.TemporaryDirectory() as folder:
        return run([native(source), *args], check=True, folder=folder).out


class Files(EndToEnd):
    def test_calls_answer_as_natively(self):
        for name in ("bytes.c", "names.c"):
            with self.subTest(program=name):
                done = godwit("run", mobile(GUESTS / name), check=True)
                self.assert_output(done.out, in_empty_folder(GUESTS / name), name)

    def test_moves_with_open_files(self):
        expected = in_empty_folder(JOURNEY.source, *JOURNEY.args)
        rng = random.Random(7)
        journey = Journey(self, mobile(JOURNEY.source, "--poll=counter"), JOURNEY)
        while journey.moves < MOVES and not journey.ended:
            journey.leg("--suspend-after-polls", str(rng.randint(0, 3000)))
        self.assertGreater(journey.moves, MOVES // 2)
        if not journey.ended:
            journey.leg()
        self.assert_output(journey.out, expected, f"after {journey.moves} moves")

    def test_moves_between_the_engines(self):
        expected = in_empty_folder(JOURNEY.source, *JOURNEY.args)
        rng = random.Random(8)
        journey = Journey(self, mobile(JOURNEY.source, "--poll=counter"), JOURNEY)
        journey.leg("--suspend-after-polls", "2000")
        for leg in (journey.leg_in_node, journey.leg) * 4:
            if not journey.ended:
                leg("--suspend-after-polls", str(rng.randint(0, 4000)))
        self.assertGreater(journey.moves, 4)
        if not journey.ended:
            journey.leg_in_node()
        self.assert_output(journey.out, expected, f"after {journey.moves} moves")


if __name__ == "__main__":
    unittest.main()
