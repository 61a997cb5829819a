"""Every example and kernel prints the same bytes natively and as a module of each level."""

import unittest

from support.harness import EndToEnd, godwit, mobile, native_output
from support.programs import ALL

BUILDS = (("--mobile=off",), ("--mobile=coarse",), ("--mobile=fine",), ("--mobile=fine", "--poll=counter"), ("--mobile=fine", "--verify"))


class Outputs(EndToEnd):
    def test_every_level_prints_what_the_native_program_prints(self):
        for program in ALL:
            expected = native_output(program)
            for flags in BUILDS:
                with self.subTest(program=program.name, build=" ".join(flags)):
                    done = godwit("run", "--compile-ahead=off", mobile(program.source, *flags), "--", *program.args, stdin=program.stdin, check=True)
                    self.assert_output(done.out, expected, str(done))


if __name__ == "__main__":
    unittest.main()
