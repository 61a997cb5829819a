"""Of a program that changes a hundredth of its memory between two checkpoints, about a hundredth is stored and sent."""

import unittest

from support.grid import Grid, Peer, wait_until
from support.harness import EndToEnd, mobile, run
from support.programs import SOURCE_ROOT

SOURCE = SOURCE_ROOT / "tests/guests/huge_memory.c"
MIB = 256
ROUNDS = 300  # in each of which it changes a hundredth; more than are waited for
PAGE = 65536
PAGES = MIB * 2**20 // PAGE
# A round: its pages and one more at each end, two nodes, the root, and what a running program writes besides: its stack, its globals.
ROUND_PAGES = PAGES // 100 + 2 + 8
NODE = 32 + 256 * 32
SENT, STORED = "godwit_transport_sent_bytes_total", "godwit_disk_blobs_stored_total"


class DirtyPagesTest(EndToEnd):
    def test_a_hundredth_costs_a_hundredth(self):
        grid = Grid(self, peers=2, slots=1)
        home = grid.peers[0]
        words = home.command("run", mobile(SOURCE), "--detach", "--workers", 1, "--memory", f"{MIB + 64}MiB", "--checkpoint-every", "500ms", "-o", "quiet", "--",
                             MIB, ROUNDS, 2000)
        job = run(words, check=True).out.decode().strip()
        wait_until("the whole memory was sent once", lambda: self.count(grid, SENT) > MIB * 2**20, grid.logs, 400)
        # The changes made meanwhile are sent next, in one image; after that each round is sent by itself.
        first = self.rounds(home, job)
        wait_until("other rounds", lambda: self.rounds(home, job) >= first + 5, grid.logs, 120)
        before = {name: self.count(grid, name) for name in (SENT, STORED)}
        begun = self.rounds(home, job)
        wait_until("more rounds", lambda: self.rounds(home, job) >= begun + 10, grid.logs, 120)
        sent, stored = (self.count(grid, name) - before[name] for name in (SENT, STORED))
        rounds = self.rounds(home, job) - begun
        print(f"\n{rounds} rounds: sent {sent / rounds / 2**20:.2f} MiB ({sent / rounds / (MIB * 2**20):.2%}) and stored {stored / rounds:.0f} blobs in each, "
              f"on two disks, of {MIB} MiB in {PAGES} pages")
        # Changes of the round before may be counted too; a checkpoint between two rounds costs the pages that are always written.
        self.assertLess(sent, (rounds + 1) * (ROUND_PAGES * PAGE + 4 * NODE) * 1.1)
        self.assertLess(stored, 2 * (rounds + 1) * (ROUND_PAGES + 8))
        self.assertGreater(sent, (rounds - 1) * (PAGES // 100) * PAGE, "the changes were not sent at all")
        self.assertEqual(home.job(job)["state"], "running")
        home.asked("job", "cancel", job)

    @staticmethod
    def count(grid: Grid, name: str) -> int:
        return sum(peer.asked("metrics")["metrics"][name] for peer in grid.peers)

    @staticmethod
    def rounds(home: Peer, job: str) -> int:
        return home.output(job).count(b"round")


if __name__ == "__main__":
    unittest.main()
