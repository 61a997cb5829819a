"""A short program suspended at every single poll, each time continued in a new process."""

import unittest

from support.harness import EndToEnd, mobile, native_output
from support.journey import Journey
from support.programs import Program

SHORT = Program("tests/guests/short.c")


class EveryPoll(EndToEnd):
    def test_output_is_that_of_an_undisturbed_run(self):
        journey = Journey(self, mobile(SHORT.source, "--poll=counter"), SHORT)
        journey.leg("--suspend-after-polls", "0")
        while not journey.ended:
            journey.leg("--suspend-after-polls", "1")  # past the poll it stopped at, to the next
        self.assertGreater(journey.moves, 100, "the program polls too rarely for this test")
        self.assert_output(journey.out, native_output(SHORT), f"after {journey.moves} moves")


if __name__ == "__main__":
    unittest.main()
