"""A program with 3.5 GiB of memory is checkpointed, suspended, resumed, and moved to another peer when its host dies.

Beside the memory of the program itself there is at most one copy of it, on its way; two while a command writes or reads an image file. Only in `make soak`; GODWIT_MIB makes it smaller.
"""

import contextlib
import os
import time
import unittest

from support.grid import Grid, wait_until
from support.harness import EXIT_SUSPENDED, GODWIT, EndToEnd, mobile, native, run
from support.memory_meter import MemoryMeter
from support.programs import SOURCE_ROOT

SOURCE = SOURCE_ROOT / "tests/guests/huge_memory.c"
MIB = int(os.environ.get("GODWIT_MIB", "3584"))
ROUNDS = 20
SECONDS = 1800  # for each step: gigabytes are written, hashed and copied, and flushed page by page
MEMORY = f"{MIB + 64}MiB"
OTHER_MIB = 768  # of commands, daemons and workers, whatever the size of the program


class HugeMemoryTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.expected = run([native(SOURCE), MIB, ROUNDS, 0], check=True, timeout=SECONDS).out
        mobile(SOURCE)

    @contextlib.contextmanager
    def measured(self, what: str, copies: int = 2):
        begun = time.monotonic()
        with MemoryMeter() as memory:
            yield
        print(f"\n{MIB} MiB {what}: {time.monotonic() - begun:.0f} s, at most {memory.peak_mib:.0f} MiB of memory", flush=True)
        at_peak = "\n".join(memory.at_peak)
        self.assertLess(memory.peak_mib, copies * MIB + OTHER_MIB, f"{what}: too many copies of the memory\n{at_peak}")

    def test_is_checkpointed_suspended_and_resumed(self):
        image = self.folder / "huge.gwi"
        limits = ("--memory", MEMORY)
        with self.measured("run for 10 s and suspended", copies=3):
            first = run([GODWIT, "run", mobile(SOURCE), *limits, "--suspend-after", "10s", "--image", image, "--", MIB, ROUNDS, 1000], timeout=SECONDS)
        self.assertEqual(first.code, EXIT_SUSPENDED, first)
        print(f"image: {image.stat().st_size / 2**20:.0f} MiB")
        with self.measured("resumed, to its end", copies=3):
            second = run([GODWIT, "resume", image, *limits], timeout=SECONDS)
        self.assertEqual(second.code, 0, second)
        self.assert_output(first.out + second.out, self.expected, "suspended once")
        image.unlink()
        with self.measured("run with checkpoints"):
            kept = run([GODWIT, "run", mobile(SOURCE), *limits, "--checkpoint-every", "5s", "--image", image, "--", MIB, ROUNDS, 1000], check=True,
                       timeout=SECONDS)
        self.assert_output(kept.out, self.expected, "with checkpoints")

    @staticmethod
    def sent_mib(grid: Grid) -> float:
        return sum(peer.asked("metrics")["metrics"]["godwit_transport_sent_bytes_total"] for peer in grid.peers if peer.is_up()) / 2**20

    def test_moves_when_its_host_dies(self):
        grid = Grid(self, peers=3, slots=1)
        home = grid.peers[0]
        words = home.command("run", mobile(SOURCE), "--detach", "--workers", 1, "--memory", MEMORY, "--checkpoint-every", "5s", "-o", "quiet", "--", MIB, ROUNDS, 10 * MIB)
        job = run(words, check=True).out.decode().strip()
        by_id = {peer.node()["id"]: peer for peer in grid.peers}
        with self.measured("run on a peer until its second image is sent"):
            # The second one is offered when the first is kept, and has a hundredth that is new.
            wait_until("an image is kept", lambda: self.sent_mib(grid) > 1.008 * MIB or home.job(job)["state"] != "running", grid.logs, SECONDS)
        self.assertEqual(home.job(job)["state"], "running", "it ended before an image was kept")
        print(f"sent so far: {self.sent_mib(grid):.0f} MiB")
        host = next(by_id[row["id"]] for row in home.job(job)["peers"] if row["running"] > 0)
        with self.measured("continued by another peer, to its end"):
            host.kill()
            host.start()
            wait_until("the job is over", lambda: home.job(job)["state"] != "running", grid.logs, SECONDS)
        shown = home.job(job)
        print(f"resumed {shown['resumed']}, restarted {shown['restarted']}")
        self.assertEqual(shown["state"], "done", f"{shown}\n{grid.logs()}")
        self.assert_output(home.output(job), self.expected, "moved")
        self.assertEqual(shown["restarted"], 0, "it began anew instead of going on from its image")


if __name__ == "__main__":
    unittest.main()
