"""A program with 3.5 GiB of memory is checkpointed, suspended, resumed, and moved to another peer when its host dies.

Only in `make soak`; GODWIT_MIB makes it smaller.
"""

import os
import unittest

from support.grid import Grid, wait_until
from support.harness import EXIT_SUSPENDED, EndToEnd, mobile, native, run
from support.programs import SOURCE_ROOT

SOURCE = SOURCE_ROOT / "tests/guests/huge_memory.c"
MIB = int(os.environ.get("GODWIT_MIB", "3584"))
ROUNDS = 20
SECONDS = 900  # for each step: gigabytes are written, hashed and copied
MEMORY = f"{MIB + 64}MiB"


class HugeMemoryTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.expected = run([native(SOURCE), MIB, ROUNDS, 0], check=True, timeout=SECONDS).out

    def test_is_checkpointed_suspended_and_resumed(self):
        image = self.folder / "huge.gwi"
        limits = ("--memory", MEMORY)
        first = run([*self.command(), "run", mobile(SOURCE), *limits, "--suspend-after", "10s", "--image", image, "--", MIB, ROUNDS, 1000], timeout=SECONDS)
        self.assertEqual(first.code, EXIT_SUSPENDED, first)
        second = run([*self.command(), "resume", image, *limits], timeout=SECONDS)
        self.assertEqual(second.code, 0, second)
        self.assert_output(first.out + second.out, self.expected, "suspended once")
        image.unlink()
        kept = run([*self.command(), "run", mobile(SOURCE), *limits, "--checkpoint-every", "5s", "--image", image, "--", MIB, ROUNDS, 1000], check=True,
                   timeout=SECONDS)
        self.assert_output(kept.out, self.expected, "with checkpoints")

    @staticmethod
    def command() -> list[str]:
        return [os.environ["GODWIT"]]

    def test_moves_when_its_host_dies(self):
        grid = Grid(self, peers=3, slots=1)
        home = grid.peers[0]
        words = home.command("run", mobile(SOURCE), "--detach", "--workers", 1, "--memory", MEMORY, "--checkpoint-every", "5s", "-o", "quiet", "--", MIB, ROUNDS, 2000)
        job = run(words, check=True).out.decode().strip()
        by_id = {peer.node()["id"]: peer for peer in grid.peers}
        wait_until("half of the rounds are done", lambda: home.output(job).count(b"round") >= ROUNDS // 2, grid.logs, SECONDS)
        host = next(by_id[row["id"]] for row in home.job(job)["peers"] if row["running"] > 0)
        host.kill()
        host.start()
        wait_until("the job is over", lambda: home.job(job)["state"] != "running", grid.logs, SECONDS)
        shown = home.job(job)
        self.assertEqual(shown["state"], "done", f"{shown}\n{grid.logs()}")
        self.assert_output(home.output(job), self.expected, "moved")
        self.assertEqual(shown["restarted"], 0, "it began anew instead of going on from its image")


if __name__ == "__main__":
    unittest.main()
