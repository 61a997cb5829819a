"""The programs every end-to-end test runs: all examples and kernels, at sizes that take about a tenth of a second."""

from dataclasses import dataclass
from pathlib import Path

SOURCE_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Program:
    path: str  # below the root of the repository
    args: tuple[str, ...] = ()
    stdin: bytes = b""

    @property
    def name(self) -> str:
        return self.path.replace("bench/kernels/", "").replace("/", ".").rsplit(".", 1)[0]

    @property
    def source(self) -> Path:
        return SOURCE_ROOT / self.path


# Text for the word counter: enough for several reads, with repeated words.
_TEXT = b"".join(b"the %d birds fly to the %d islands,\nand the sea is wide\n" % (n, n * n % 97) for n in range(4000))

EXAMPLES = [
    Program("examples/mandelbrot.c", ("120", "400")),
    Program("examples/nbody.c", ("300000",)),
    Program("examples/tsp.cpp", ("80", "30")),
    Program("examples/primes.c", ("20000000",)),
    Program("examples/raytracer.cpp", ("120", "1")),
    Program("examples/wordcount.c", ("20",), _TEXT),
    Program("examples/grab_bag.cpp", ("4",)),
]

KERNELS = [
    Program("bench/kernels/tuning/mandel.c", ("240",)),
    Program("bench/kernels/tuning/nbody.c", ("400000",)),
    Program("bench/kernels/tuning/tsp.cpp", ("15",)),
    Program("bench/kernels/tuning/sha256.c", ("150000",)),
    Program("bench/kernels/tuning/matmul.c", ("1",)),
    Program("bench/kernels/tuning/queens.c", ("8",)),
    Program("bench/kernels/tuning/machine.cpp", ("400000",)),
    Program("bench/kernels/tuning/sort_callback.c", ("2",)),
    Program("bench/kernels/held_out/dijkstra.cpp", ("1",)),
    Program("bench/kernels/held_out/events.c", ("400000",)),
    Program("bench/kernels/held_out/formula.cpp", ("3000",)),
    Program("bench/kernels/held_out/hash_table.c", ("400000",)),
    Program("bench/kernels/held_out/life.c", ("40",)),
    Program("bench/kernels/held_out/lu.c", ("350",)),
    Program("bench/kernels/held_out/lz77.c", ("2",)),
    Program("bench/kernels/held_out/ordered_map.cpp", ("80000",)),
    Program("bench/kernels/held_out/smith_waterman.c", ("2",)),
    Program("bench/kernels/held_out/tokenizer.c", ("8",)),
    Program("bench/kernels/big/library_tour.cpp", ("2000",)),
]

ALL = EXAMPLES + KERNELS

# Functions of the C library that the guest runtime replaces (sdk/guest/runtime).
RUNTIME = [Program("tests/guests/compare_bytes.c")]
