"""Programs that throw, catch, rethrow and jump, or use large parts of the C++ library, do what they do natively, and can be moved at every poll and into Node."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor

from support.harness import SCALE, SCRATCH, godwit, run
from support.native_twin import MOVER, SIGABRT_EXIT, NativeTwin
from support.programs import SOURCE_ROOT, Program
from support.random_exceptions import source

GUESTS = SOURCE_ROOT / "tests/guests/exceptions"
LIBRARY = SOURCE_ROOT / "tests/guests/library"
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


class Exceptions(NativeTwin):
    def test_the_output_is_native_and_stays_so_when_moved_at_every_poll(self):
        self.assert_same_undisturbed_and_moved(programs(), lambda program: LONG.get(program.source.stem, 1))

    def test_images_continue_in_node(self):
        self.assert_images_continue_in_node(programs()[:: 4 if SCALE == 1 else 1], seed=5)

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
