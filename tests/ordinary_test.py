"""Ordinary programs meet the system they expect: deep recursion, signals, files and processes, numbers of all sizes."""

import os
import unittest
from pathlib import Path

from support.harness import EndToEnd, Finished, godwit, mobile, native, run
from support.programs import SOURCE_ROOT

MOVER = os.environ.get("GODWIT_MOVER", str(SOURCE_ROOT / "build/bin/godwit-mover"))
GUESTS = SOURCE_ROOT / "tests/guests/ordinary"
SIGTERM_EXIT = 128 + 15


class Ordinary(EndToEnd):
    def _same_everywhere(self, name: str, moved_every: int) -> Finished:
        """Natively, undisturbed and moved it prints the same; returns the undisturbed run."""
        source = GUESTS / name
        expected = run(["bash", "-c", f"ulimit -s unlimited; exec {native(source)}"])
        done = godwit("run", source)
        self.assert_output(done.out, expected.out, f"{name}: {done.err}")
        moved = run([MOVER, mobile(source, "--poll=counter"), moved_every])
        self.assert_output(moved.out, expected.out, f"{name} moved: {moved.err}")
        self.assertNotIn("after 0 moves", moved.err)
        return done

    def test_frames_of_deep_recursion_can_be_suspended(self):
        self._same_everywhere("deep_frames.c", 40000)

    def test_numbers_of_all_sizes_are_calculated_and_printed(self):
        self._same_everywhere("numbers.cpp", 1)

    def test_signals_are_delivered_and_end_the_program_as_they_do_natively(self):
        self.assertEqual(self._same_everywhere("signals.c", 1).code, SIGTERM_EXIT)

    def test_the_system_works_or_says_why_not(self):
        done = godwit("run", GUESTS / "system.c")
        self.assertEqual((done.out, done.code), (b"0 wrong\n", 0), done)

    def test_local_time_is_that_of_the_zone(self):
        source, zones = GUESTS / "time_zones.c", "/usr/share/zoneinfo"
        names = [zone for zone in ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata") if Path(zones, zone).exists()]
        inputs = [word for name in names for word in ("--input", Path(zones, name))]
        expected = run([native(source), *names])
        done = godwit("run", source, *inputs, "--", *names)
        self.assert_output(done.out, expected.out, done.err)
        self.assertIn(b"UTC0: UTC UTC 0 0", godwit("run", source, "--", "Europe/Berlin").out)

    def test_a_stack_overflow_is_called_by_its_name(self):
        done = godwit("run", GUESTS / "stack_overflow.c")
        self.assertNotEqual(done.code, 0)
        self.assertEqual(done.out.count(b"\n"), 1, done)
        self.assertIn("stack overflow", done.err)

    def test_a_c_function_is_named_as_it_is(self):
        self.assertIn("trapped in f:", godwit("run", GUESTS / "c_name.c").err)


if __name__ == "__main__":
    unittest.main()
