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
RELAYS = 1 if SCALE == 1 else 5  # that die, one after the other
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
        self.running = list(self.peers)
        self.ids = {number: peer.peers()[0]["id"] for number, peer in self.peers.items()}

    def logs(self) -> str:
        return "\n".join(f"--- {number} ({self.network.kinds[number]})\n{peer.last_words()}" for number, peer in self.peers.items())

    def ways(self) -> dict[tuple[int, int], dict]:
        """By (from, to): the row of `peer list` of a pair that has a connection now."""
        numbers = {peer_id: number for number, peer_id in self.ids.items()}
        return {(number, numbers[row["id"]]): row for number in self.running for row in self.peers[number].peers() if row["way"]}

    def wait_until_all_talk(self, what: str) -> None:
        """From now on bytes have gone both ways between each two of those that run."""
        began = time.monotonic()
        before = {pair: (row["bytes_in"], row["bytes_out"]) for pair, row in self.ways().items()}

        def talks(pair: tuple[int, int], row: dict) -> bool:
            then_in, then_out = before.get(pair, (0, 0))
            return row["state"] == "alive" and row["bytes_in"] not in (0, then_in) and row["bytes_out"] not in (0, then_out)

        def silent() -> list[tuple[int, int]]:
            talk = {pair for pair, row in self.ways().items() if talks(pair, row)}
            return sorted(set(itertools.permutations(self.running, 2)) - talk)

        wait_until(what, lambda: not silent(), lambda: f"silent: {silent()}\n{self.logs()}")
        took = time.monotonic() - began
        print(f"{len(self.running)} hosts: {what} after {took:.1f} s", flush=True)
        if SCALE > 1:
            self.assertLessEqual(took, PROMISED_SECONDS, what)

    def show_ways(self) -> None:
        for (one, other), row in sorted(self.ways().items()):
            if one < other:
                print(f"  {self.network.kinds[one]} {one} - {self.network.kinds[other]} {other}: {row['way']}, "
                      f"{row['bytes_out']} bytes there, {row['bytes_in']} back", flush=True)

    def public(self) -> list[int]:
        return [number for number in self.running if self.network.kinds[number] == "public"]

    def wait_for_best_ways(self) -> None:
        """A relay is between those whom nothing else joins, and, after a moment, between nobody else."""
        public = self.public()

        def wrong() -> dict:
            return {pair: row["way"] for pair, row in self.ways().items() if (row["way"] == "relayed") == any(end in public for end in pair)}

        wait_until("each pair has the best way", lambda: not wrong(), lambda: f"wrong: {wrong()}\n{self.logs()}")

    def busiest_relay(self) -> int:
        """The public peer that has carried most for others."""
        carried = {number: self.peers[number].node()["relayed_for_others"] for number in self.public()}
        print(f"bytes relayed for others: {carried}", flush=True)
        relay = max(carried, key=carried.get)
        self.assertGreater(carried[relay], 0)
        return relay

    def restart(self, number: int) -> None:
        """A host dies, the others go on, it comes back."""
        self.peers[number].kill()
        self.running.remove(number)
        self.wait_until_all_talk(f"every pair talks without {number}")
        self.peers[number].start()
        self.running.append(number)
        self.wait_until_all_talk(f"every pair talks with {number} again")

    def reversed_connections(self) -> int:
        return sum(peer.log.read_text(errors="replace").count("way=reverse") for peer in self.peers.values())

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
        self.wait_until_all_talk("every pair has talked")
        self.wait_for_best_ways()
        self.show_ways()
        self.run_job()
        for _ in range(RELAYS):
            self.restart(self.busiest_relay())
        # A public peer that has forgotten all others asks those that it cannot dial to dial it, unless they dial first.
        for _ in range(30):
            if self.reversed_connections() > 0:
                break
            self.restart(2)
        print(f"{self.reversed_connections()} ends of connections made in reverse", flush=True)
        self.assertGreater(self.reversed_connections(), 0)
        self.wait_for_best_ways()


if __name__ == "__main__":
    unittest.main()
