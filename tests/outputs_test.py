"""Every example, every kernel and what the guest runtime does in the place of the C library prints the same bytes natively and as a module of each level."""

import unittest

from support.harness import SCALE, EndToEnd, godwit, mobile, native_output
from support.programs import ALL, EXAMPLES, RUNTIME, Program

BUILDS = (("--mobile=off",), ("--mobile=coarse",), ("--mobile=fine",), ("--mobile=fine", "--poll=counter"), ("--mobile=fine", "--verify"))
KERNEL_BUILDS = (("--mobile=off",), ("--mobile=fine",))


def builds_of(program: Program) -> tuple:
    """Kernels, which are many, are built in every way in soak only."""
    return BUILDS if program in EXAMPLES or SCALE > 1 else KERNEL_BUILDS


class Outputs(EndToEnd):
    def test_every_level_prints_what_the_native_program_prints(self):
        for program in ALL + RUNTIME:
            expected = native_output(program)
            for flags in builds_of(program):
                with self.subTest(program=program.name, build=" ".join(flags)):
                    done = godwit("run", "--compile-ahead=off", mobile(program.source, *flags), "--", *program.args, stdin=program.stdin, check=True)
                    self.assert_output(done.out, expected, str(done))


if __name__ == "__main__":
    unittest.main()
