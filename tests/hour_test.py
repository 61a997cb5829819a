"""An hour of real time: two daemons, a job every minute. Memory and descriptors do not grow.

Only in `make soak`; GODWIT_MINUTES makes it shorter or longer.
"""

import os
import statistics
import time
import unittest

from support.grid import Grid, Peer
from support.harness import EndToEnd, mobile, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/array_task.c"
MINUTES = int(os.environ.get("GODWIT_MINUTES", "60"))
MEMORY_GROWTH_MIB, DESCRIPTOR_GROWTH = 3, 4  # of the last third over the first, whose first minutes are not counted


class HourTest(EndToEnd):
    def sample(self, peer: Peer) -> tuple[float, int]:
        return peer.memory_mib("VmRSS"), peer.descriptors()

    def assert_flat(self, what: str, samples: list[float], growth: float) -> None:
        third = len(samples) // 3
        first, last = statistics.median(samples[third // 2:third]), statistics.median(samples[-third:])
        print(f"{what}: {first:.1f} at first, {last:.1f} at last, {max(samples):.1f} at most", flush=True)
        self.assertLessEqual(last - first, growth, f"{what}: {samples}")

    def test_an_hour_is_flat(self):
        grid = Grid(self, peers=2, slots=2)
        module = mobile(TASK)
        samples: dict[Peer, list[tuple[float, int]]] = {peer: [] for peer in grid.peers}
        began = time.monotonic()
        for minute in range(1, MINUTES + 1):
            run(grid.peers[minute % 2].command("run", module, "--workers", 4, "--tasks", 8, "--", 1_000_000, 4), check=True)
            time.sleep(max(0.0, began + 60 * minute - time.monotonic()))
            for peer in grid.peers:
                samples[peer].append(self.sample(peer))
            print(minute, *(f"{memory:.1f} MiB, {descriptors} descriptors;" for memory, descriptors in (samples[p][-1] for p in grid.peers)), flush=True)
        for peer in grid.peers:
            self.assert_flat(f"{peer.name}, MiB", [memory for memory, _ in samples[peer]], MEMORY_GROWTH_MIB)
            self.assert_flat(f"{peer.name}, descriptors", [float(count) for _, count in samples[peer]], DESCRIPTOR_GROWTH)


if __name__ == "__main__":
    unittest.main()
