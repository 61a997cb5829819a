"""A stripped module of another toolchain, linked without our runtime, moves in the middle of its run as well."""

import unittest

from support.harness import EndToEnd, mobile, run
from support.journey import Journey
from support.programs import SOURCE_ROOT, Program

SIEVE = Program("tests/guests/sieve.rs")
RUSTC = "/usr/bin/rustc"  # Debian's, whose standard library for wasm is installed; another one may come first in PATH


class RustModule(EndToEnd):
    def test_output_is_that_of_the_native_program(self):
        source = SOURCE_ROOT / SIEVE.source
        native, module = self.folder / "sieve", self.folder / "sieve.wasm"
        run([RUSTC, "-O", source, "-o", native], check=True)
        run([RUSTC, "--target", "wasm32-wasi", "-O", "-C", "strip=symbols", source, "-o", module], check=True)
        journey = Journey(self, mobile(module), SIEVE)
        journey.leg("--suspend-after-polls", "20000")
        for polls in ("1", "7", "1000", "100000"):
            journey.leg("--suspend-after-polls", polls)
        self.assertEqual(journey.moves, 5)
        journey.leg_in_node("--suspend-after-polls", "50000")
        self.assertFalse(journey.ended, "it ended before it could come back from Node")
        journey.leg()
        self.assertTrue(journey.ended)
        self.assert_output(journey.out, run([native], check=True).out, "sieve.rs")


if __name__ == "__main__":
    unittest.main()
