"""Programs that throw, catch, rethrow and jump, or use large parts of the C++ library, do what they do natively, and can be moved at every poll and into Node."""

import functools
import os
import random
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from support.harness import SCALE, SCRATCH, EndToEnd, Finished, godwit, mobile, native, run
from support.journey import Journey, count_polls
from support.programs import SOURCE_ROOT, Program
from support.random_exceptions import source

MOVER = os.environ.get("GODWIT_MOVER", str(SOURCE_ROOT / "build/bin/godwit-mover"))
GUESTS = SOURCE_ROOT / "tests/guests/exceptions"
LIBRARY = SOURCE_ROOT / "tests/guests/library"
SIGABRT_EXIT = 134
SEEDS_PER_SOURCE = 10
FIRST_SEED = int(os.environ.get("GODWIT_SEED", "1"))
SEEDS = int(os.environ.get("GODWIT_SEEDS", str(30 if SCALE == 1 else 3000)))

# Too long to be moved at every poll: at some thousand.
LONG = {"million": 20000, "filesystem": 8000, "file_streams": 50, "regular_expressions": 20}


def programs() -> list[Program]:
    files = sorted([*GUESTS.glob("*.cpp"), *GUESTS.glob("*.c"), *LIBRARY.glob("*.cpp")])
    if not (SOURCE_ROOT / "build/deps/libcxx/.complete").exists():
        print("std::filesystem is left out: tools/fetch_libcxx could not fetch its sources")
        files = [file for file in files if file.stem != "filesystem"]
    return [Program(str(file.relative_to(SOURCE_ROOT))) for file in files]


@functools.cache
def expected_of(program: Program) -> Finished:
    """What the program does on this machine, in an empty folder; a program ended by abort() has the exit code a shell would show."""
    with tempfile.TemporaryDirectory(prefix="godwit-native-") as folder:
        done = run([native(program.source)], folder=folder)
    code = SIGABRT_EXIT if done.code == -6 else done.code
    return Finished(done.command, code, done.out, done.err)


class Exceptions(EndToEnd):
    def assert_same(self, done: Finished, expected: Finished, context: str):
        self.assert_output(done.out, expected.out, f"{context}: {done.err[-500:]}")
        self.assertEqual(done.code, expected.code, f"{context}: {done}")

    def test_the_output_is_native_and_stays_so_when_moved_at_every_poll(self):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            ways = {program: pool.submit(self._all_ways, program) for program in programs()}
            for program, ended in ways.items():
                with self.subTest(program=program.name):
                    expected, undisturbed, moved = ended.result()
                    self.assert_same(undisturbed, expected, "undisturbed")
                    self.assert_same(moved, expected, "moved")

    @staticmethod
    def _all_ways(program: Program) -> tuple[Finished, Finished, Finished]:
        """Natively, undisturbed, and moved at every poll."""
        undisturbed = godwit("run", program.source)
        module = mobile(program.source, "--poll=counter")
        return expected_of(program), undisturbed, run([MOVER, module, LONG.get(program.source.stem, 1)])

    def test_images_continue_in_node(self):
        rng = random.Random(5)
        moves = 0
        chosen = programs()[:: 4 if SCALE == 1 else 1]
        for program in chosen:
            expected = expected_of(program)
            if expected.code != 0:
                continue
            with self.subTest(program=program.name):
                module = mobile(program.source, "--poll=counter")
                longest = count_polls(self, module, program).polls
                journey = Journey(self, module, program)
                journey.leg("--suspend-after-polls", str(rng.randint(0, longest)))
                if not journey.ended:
                    journey.leg_in_node("--suspend-after-polls", str(rng.randint(0, longest)))
                if not journey.ended:
                    journey.leg()
                moves += journey.moves
                self.assert_output(journey.out, expected.out, f"after {journey.moves} moves")
        self.assertGreater(moves, len(chosen) // 2)

    def test_an_uncaught_exception_is_named(self):
        done = godwit("run", GUESTS / "uncaught.cpp")
        self.assertEqual(done.code, SIGABRT_EXIT, done)
        self.assertIn("uncaught exception of type std::runtime_error: nobody catches me 1\n", done.err)

    def test_random_programs_agree_with_native_ones(self):
        starts = range(FIRST_SEED, FIRST_SEED + SEEDS, SEEDS_PER_SOURCE)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for failure in pool.map(self._try_seeds, starts):
                if failure:
                    self.fail(failure)

    def _try_seeds(self, first: int) -> str | None:
        """The first difference, or none. All optimisation levels take turns, in the guest: handlers are miscompiled from -O1 on."""
        seeds = range(first, min(first + SEEDS_PER_SOURCE, FIRST_SEED + SEEDS))
        path = self.folder / f"random{first}.cpp"
        path.write_text(source(seeds))
        level = ("-O3", "-O2", "-O1")[first // SEEDS_PER_SOURCE % 3]
        binary, module = path.with_suffix(""), path.with_suffix(".wasm")
        run(["clang++-19", "-std=c++20", "-O1", "-fwrapv", "-w", path, "-o", binary], check=True)
        godwit("build", path, f"--cflag={level}", "--cflag=-fwrapv", "--cflag=-w", "--poll=counter", "--output", module, check=True)
        expected = run([binary], check=True)
        done = run([MOVER, module, 2000, first])
        if done.out == expected.out and done.code == 0:
            return None
        kept = SCRATCH / path.name
        kept.write_text(path.read_text())
        lines = zip(expected.out.decode().splitlines(), done.out.decode(errors="replace").splitlines())
        seed = next((before for before, (a, b) in enumerate(lines) if a != b), None)
        return f"{level}: seeds from {first} on differ from native at line {seed} of the output: {done}; the source is {kept}"


if __name__ == "__main__":
    unittest.main()
