"""Thirty daemons that have nothing to do: what each of them costs. Only in `make soak`."""

import os
import tempfile
import time
import unittest
from pathlib import Path

from support.grid import Network, Peer, wait_until
from support.harness import EndToEnd

HOSTS = 30
SETTLING_SECONDS, MEASURED_SECONDS = 75, 60  # peers are lively in the first minute of their lives
MOST_MIB, MOST_CPU_PERCENT = 60, 0.5


class IdleTest(EndToEnd):
    def test_idle_daemons_are_cheap(self):
        folder = tempfile.TemporaryDirectory(prefix="gw-grid-")  # sockets have short paths
        self.addCleanup(folder.cleanup)
        network = Network(HOSTS)
        self.addCleanup(network.close)
        peers = [Peer(network, Path(folder.name), n, slots=1, join=None if n == 1 else 1) for n in range(1, HOSTS + 1)]
        for peer in peers:
            self.addCleanup(peer.stop)
            peer.launch()
        for peer in peers:
            peer.wait_ready()
        wait_until("all see all", lambda: all(len(peer.peers()) == HOSTS for peer in peers), peers[0].last_words)
        time.sleep(SETTLING_SECONDS)
        before = [peer.cpu_ticks() for peer in peers]
        time.sleep(MEASURED_SECONDS)
        used = [(peer.cpu_ticks() - ticks) / os.sysconf("SC_CLK_TCK") / MEASURED_SECONDS * 100 for peer, ticks in zip(peers, before)]
        memory = [peer.memory_mib("VmRSS") for peer in peers]
        print(f"{HOSTS} idle daemons: {max(memory):.1f} MiB and {sum(used) / HOSTS:.2f} % of a core each, {max(used):.2f} % at most", flush=True)
        self.assertLessEqual(max(memory), MOST_MIB)
        self.assertLessEqual(sum(used) / HOSTS, MOST_CPU_PERCENT)


if __name__ == "__main__":
    unittest.main()
