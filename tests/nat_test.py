"""Peers behind NATs and a firewall: every pair talks, by the best way there is; a relay may die; a job runs over all of them.

Five hosts in `make test`, ten in `make soak`, where the times that docs/design/006-connectivity.md promises are asserted, too.
"""

import itertools
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support.grid import NatNetwork, Peer, wait_until
from support.harness import SCALE, EndToEnd, mobile, native, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/array_task.c"
STEPS, LINES = 2_000_000, 2
KINDS = ["public", "public", "nat", "symmetric", "firewall"]
KINDS = KINDS if SCALE == 1 else KINDS + ["public", "nat", "nat", "symmetric", "firewall"]
PROMISED_SECONDS = 10  # from joining until a pair has talked, and from the death of a relay until it talks again; on a quiet machine


class NatTest(EndToEnd):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="gw-grid-")  # sockets have short paths
        self.addCleanup(folder.cleanup)
        self.network = NatNetwork(KINDS)
        self.addCleanup(self.network.close)
        self.peers = {n: Peer(self.network, Path(folder.name), n, slots=1, join=None if n == 1 else 1) for n in self.network.kinds}
        for peer in self.peers.values():
            self.addCleanup(peer.stop)

    def start_all(self) -> None:
        for peer in self.peers.values():
            peer.launch()
        for peer in self.peers.values():
            peer.wait_ready()
        self.ids = {number: peer.peers()[0]["id"] for number, peer in self.peers.items()}

    def logs(self) -> str:
        return "\n".join(f"--- {number} ({self.network.kinds[number]})\n{peer.last_words()}" for number, peer in self.peers.items())

    def wait_until_all_talk(self, what: str, numbers: list[int]) -> None:
        """Each of these hosts gets an answer of each other."""
        began = time.monotonic()
        silent = set(itertools.permutations(numbers, 2))

        def all_talk() -> bool:
            silent.difference_update([(one, other) for one, other in silent if self.peers[one].ping(self.ids[other])])
            return not silent

        wait_until(what, all_talk, lambda: f"silent: {sorted(silent)}\n{self.logs()}")
        took = time.monotonic() - began
        print(f"{len(numbers)} hosts: {what} after {took:.1f} s", flush=True)
        if SCALE > 1:
            self.assertLessEqual(took, PROMISED_SECONDS, what)

    def ways(self) -> dict[tuple[int, int], dict]:
        """By (from, to): the row of `peer list` of a pair that has a connection."""
        numbers = {peer_id: number for number, peer_id in self.ids.items()}
        return {(number, numbers[row["id"]]): row for number, peer in self.peers.items() for row in peer.peers() if row.get("way")}

    def show_ways(self) -> None:
        for (one, other), row in sorted(self.ways().items()):
            if one < other:
                print(f"  {self.network.kinds[one]} {one} - {self.network.kinds[other]} {other}: {row['way']}, "
                      f"{row['bytes_out']} bytes there, {row['bytes_in']} back", flush=True)

    def assert_ways_are_right(self) -> None:
        """Nobody reaches whom it cannot; and those whom only a relay joins have sent bytes over one."""
        public = [number for number, kind in self.network.kinds.items() if kind == "public"]
        ways = self.ways()
        for (one, other), row in ways.items():
            closed = one not in public and other not in public
            self.assertEqual(row["way"] == "relayed", closed, f"{one} - {other}: {row}\n{self.logs()}")
            self.assertGreater(row["bytes_out"] + row["bytes_in"], 0)
        self.assertTrue(any(row["way"] == "relayed" for row in ways.values()))

    def talk_in_reverse(self) -> None:
        """A public peer that has forgotten everybody asks for a connection to one that it cannot dial."""
        closed = [number for number, kind in self.network.kinds.items() if kind != "public"]
        self.peers[2].kill()
        self.peers[2].start()

        def seen() -> bool:
            for number in closed:
                self.peers[2].ping(self.ids[number])
            return any(row["way"] == "reverse" for row in self.ways().values())

        wait_until("a connection was made in reverse", seen, self.logs)

    def run_job(self) -> None:
        tasks = 2 * len(KINDS)
        expected = b"".join(
            subprocess.run([native(TASK), str(STEPS), str(LINES)], env=dict(os.environ, GODWIT_TASK=str(n), GODWIT_TASKS=str(tasks)),
                           capture_output=True, check=True).stdout for n in range(tasks))
        home = self.peers[KINDS.index("nat") + 1]
        words = home.command("run", mobile(TASK), "--detach", "--workers", len(KINDS), "--tasks", tasks, "-o", "quiet", "--", STEPS, LINES)
        job = run(words, check=True).out.decode().strip()
        wait_until("the job is over", lambda: home.asked("job", "show", job)["state"] != "running", self.logs)
        shown = home.asked("job", "show", job)
        self.assertEqual(shown["state"], "done", self.logs())
        self.assert_output(home.ask("job", "logs", job).out, expected, self.logs())
        print(f"a job at home behind a NAT ran on {len(shown['peers'])} hosts", flush=True)

    def test_every_pair_talks(self):
        self.start_all()
        everybody = list(self.peers)
        self.wait_until_all_talk("every pair has talked", everybody)
        self.assert_ways_are_right()
        self.show_ways()
        self.run_job()
        for relay in (1, 2):  # one of them is a relay of each pair that needs one
            self.peers[relay].kill()
            self.wait_until_all_talk(f"every pair talks without {relay}", [number for number in everybody if number != relay])
            self.peers[relay].start()
            self.wait_until_all_talk(f"every pair talks with {relay} again", everybody)
        self.talk_in_reverse()
        self.show_ways()


if __name__ == "__main__":
    unittest.main()
