"""Daemons on hosts that are far apart, over links that lose frames: all find each other, and all notice who has died.

Six hosts in `make test`, thirty in `make soak`, where the times that docs/design/005-overlay.md promises are asserted, too.
"""

import random
import tempfile
import time
import unittest
from pathlib import Path

from support.grid import FarNetwork, Peer, wait_until
from support.harness import SCALE, EndToEnd

HOSTS = 6 if SCALE == 1 else 30
SITES = 3
NEAR_MS, FAR_MS, JITTER_MS, LOSS = 0.5, 30, 3, 0.01  # in one direction
JOIN_SECONDS, DEATH_SECONDS = 20, 60  # as promised; on a quiet machine


class OverlayTest(EndToEnd):
    def start_hosts(self, count: int) -> None:
        folder = tempfile.TemporaryDirectory(prefix="gw-grid-")  # sockets have short paths
        self.addCleanup(folder.cleanup)
        network = FarNetwork(count)
        self.addCleanup(network.close)
        for one in range(1, count + 1):
            for other in range(1, one):
                far = abs(one % SITES - other % SITES)
                network.link(one, other, NEAR_MS + FAR_MS * far, JITTER_MS, LOSS)
        self.hosts = [Peer(network, Path(folder.name), number, slots=1, join=None if number == 1 else 1) for number in range(1, count + 1)]
        for host in self.hosts:
            self.addCleanup(host.stop)
            host.launch()
        for host in self.hosts:
            host.wait_ready()
        self.ids = {host: host.peers()[0]["id"] for host in self.hosts}

    def views(self, hosts: list[Peer]) -> dict[str, set[str]]:
        """By id: whom each of these takes for alive, itself included."""
        return {self.ids[host]: {row["id"] for row in host.peers() if row["state"] != "silent"} for host in hosts}

    def wait_for_equal_views(self, what: str, hosts: list[Peer], promised: float) -> None:
        """Until each of them takes exactly all of them for alive. Then A sees B if and only if B sees A."""
        everybody = {self.ids[host] for host in hosts}
        began = time.monotonic()
        wait_until(what, lambda: all(view == everybody for view in self.views(hosts).values()), lambda: self.explain(hosts))
        took = time.monotonic() - began
        print(f"{len(self.hosts)} hosts: {what} after {took:.1f} s", flush=True)
        if SCALE > 1:
            self.assertLessEqual(took, promised, what)

    def explain(self, hosts: list[Peer]) -> str:
        everybody = {self.ids[host] for host in hosts}
        names = {peer: host.name for host, peer in self.ids.items()}
        lines = []
        for peer, view in self.views(hosts).items():
            missing, extra = sorted(names[x] for x in everybody - view), sorted(names.get(x, x) for x in view - everybody)
            if missing or extra:
                lines.append(f"{names[peer]} misses {missing}, takes for alive {extra}")
        return "\n".join(lines + [self.hosts[0].last_words()])

    def test_many_hosts(self):
        self.start_hosts(HOSTS)
        self.wait_for_equal_views("all see all", self.hosts, JOIN_SECONDS)
        victims = random.Random(5).sample(self.hosts[1:], HOSTS // 3)
        for victim in victims:
            victim.kill()
        rest = [host for host in self.hosts if host not in victims]
        self.wait_for_equal_views(f"all know that {len(victims)} are dead", rest, DEATH_SECONDS)
        for victim in victims:
            victim.start()
        self.wait_for_equal_views("all see all again", self.hosts, DEATH_SECONDS)
        first = self.hosts[0]
        first.kill()
        self.wait_for_equal_views("all know that the first is dead", self.hosts[1:], DEATH_SECONDS)
        first.start()
        self.wait_for_equal_views("the first is back, though it was told of nobody", self.hosts, DEATH_SECONDS)

    def test_of_three_any_may_die(self):
        self.start_hosts(3)
        self.wait_for_equal_views("all see all", self.hosts, JOIN_SECONDS)
        for victim in self.hosts:
            with self.subTest(victim=victim.name):
                victim.kill()
                self.wait_for_equal_views(f"two know that {victim.name} is dead", [x for x in self.hosts if x is not victim], DEATH_SECONDS)
                victim.start()
                self.wait_for_equal_views(f"{victim.name} is back", self.hosts, DEATH_SECONDS)


if __name__ == "__main__":
    unittest.main()
