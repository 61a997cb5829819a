"""A stranger with a key of its own sends every kind of message with every field out of range to the home, a host and a keeper of an honest job
(tests/hostile_peer). No daemon ends, no image is lost or read, the job's output is right, memory and disk stay within bounds, and each refusal
is in the log with its reason.

`make test` sends some of the messages, `make soak` all of them. GODWIT_SEED chooses; GODWIT_MESSAGES says how many.
"""

import concurrent.futures
import os
import re
import subprocess
import time
import unittest
from pathlib import Path

from support.grid import PATIENCE_SECONDS, Grid, Network, Peer, wait_until
from support.harness import SCALE, EndToEnd, run
from support.mixed_job import MixedJob
from support.programs import SOURCE_ROOT

HOSTILE_PEER = os.environ.get("GODWIT_HOSTILE_PEER", str(SOURCE_ROOT / "build/release/tests/godwit-hostile-peer"))
PEERS, SLOTS = 3, 2
SEED = int(os.environ.get("GODWIT_SEED", "1"))
MESSAGES = int(os.environ.get("GODWIT_MESSAGES", "300" if SCALE == 1 else "1000000"))
JOB = MixedJob(tasks=12, lines=12, steps=4_000_000, rest_ms=400 if SCALE == 1 else 4000)
MEMORY_GROWTH_MIB, DISK_GROWTH_MIB = 64, 64
OFFERED_MIB = 200 if SCALE == 1 else 2000
HELD_SECONDS = 100  # a claim that runs nothing ends after a minute


def protocol_version() -> int:
    text = (SOURCE_ROOT / "src/wire/messages/peer_messages.h").read_text()
    return int(re.search(r"kPeerProtocol = (\d+)", text).group(1))


def disk_mib(folder: Path) -> float:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) / (1 << 20)


class HostilePeerTest(EndToEnd):
    def setUp(self):
        super().setUp()
        JOB.prepare()
        self.grid = Grid(self, peers=PEERS, slots=SLOTS, bystanders=1)
        self.home = self.grid.peers[0]
        words = self.home.command(*JOB.words(workers=PEERS * SLOTS, checkpoint_every="300ms"))
        self.job = run(words, check=True).out.decode().strip()
        wait_until("the job runs on all peers", self.runs_everywhere, self.grid.logs)
        self.before = {peer: (peer.memory_mib("VmRSS"), disk_mib(peer.state)) for peer in self.grid.peers}

    def runs_everywhere(self) -> bool:
        shown = self.home.job(self.job)
        return shown["state"] != "running" or sum(row["running"] > 0 for row in shown["peers"]) == PEERS

    def attack(self, number: int, *options) -> str:
        """What the stranger says about its visit to a peer."""
        known = [("--peer", peer.node()["id"]) for peer in self.grid.peers]
        known += [("--job", self.job), ("--protocol", protocol_version()), ("--seed", SEED + number)]
        known += [("--grid", row["id"]) for row in self.home.get("/v1/grids")["grids"]]
        known += [("--thread", row["id"]) for row in self.home.job(self.job).get("thread_list", [])[:20]]
        words = ["ip", "netns", "exec", self.grid.network.namespace(PEERS + 1), HOSTILE_PEER, f"{Network.host(number)}:{Network.PORT}"]
        words += [str(word) for pair in known for word in pair] + [str(word) for word in options]
        done = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}\n{self.grid.peers[number - 1].last_words()}")
        return done.stdout

    def attack_all(self, *options) -> list[str]:
        with concurrent.futures.ThreadPoolExecutor(PEERS) as strangers:
            return list(strangers.map(lambda number: self.attack(number, *options), range(1, PEERS + 1)))

    def test_an_honest_job_notices_nothing(self):
        for attack in ("flood", "lead"):
            for peer, said in zip(self.grid.peers, self.attack_all("--attack", attack, "--messages", MESSAGES)):
                print(f"{attack}, {peer.name}: {said.strip().splitlines()[-1]}", flush=True)
                if attack == "flood":
                    self.assertNotIn("told a secret", said, "a stranger was told something of a job")
        self.assert_unharmed()
        for peer in self.grid.peers:
            self.assertRegex(peer.log.read_text(errors="replace"), r"warn node: .*refused.*peer=[0-9a-f]{64}.*why=", peer.name)

    def test_a_disk_is_not_filled(self):
        """The stranger offers images without end, each valid, as the leader, host and keeper's client of a job of its own (defect 3)."""
        for peer in self.grid.peers:
            self.assertEqual(peer.ask("share", "--disk", "64M", "--disk-per-peer", "24M", "--disk-per-job", "24M").code, 0)
        for peer, said in zip(self.grid.peers, self.attack_all("--attack", "fill-disk", "--mebibytes", OFFERED_MIB, "--seconds", 5)):
            print(f"fill-disk, {peer.name}: {said.strip().splitlines()[-1]}", flush=True)
            asked = int(re.search(r"was asked for (\d+) MiB", said).group(1))
            self.assertGreaterEqual(asked, 8, "the attack does not reach the fetch of pages: are its images valid?")
            self.assertLess(asked, OFFERED_MIB, "more was fetched than the budget of one peer")
            self.assertIn("answered by job.kept", said, "nobody said that there is no room")
            self.assertLessEqual(peer.node()["storage"]["lent_bytes"], 64 << 20)
        self.assert_unharmed()

    if SCALE > 1:
        def test_slots_that_strangers_hold_come_back(self):
            self.assert_unharmed()
            with concurrent.futures.ThreadPoolExecutor(1) as background:
                held = background.submit(self.attack_all, "--attack", "hold-slots", "--seconds", HELD_SECONDS)
                time.sleep(3)
                self.job = run(self.home.command(*JOB.words(workers=PEERS * SLOTS, checkpoint_every="300ms")), check=True).out.decode().strip()
                self.assert_unharmed()
                print(*held.result())

    def assert_unharmed(self) -> None:
        for peer in self.grid.peers:
            peer.check_alive()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.home.job(self.job)["state"] == "running" and time.monotonic() < deadline:
            time.sleep(0.2)
        shown = self.home.job(self.job)
        self.assertEqual(shown["state"], "done", f"{shown}\n{self.home.ask('job', 'explain', self.job).out.decode()}\n{self.grid.logs()}")
        JOB.check(self.home.output(self.job))
        for peer, (memory, disk) in self.before.items():
            peer.check_alive()
            grown = peer.memory_mib("VmRSS") - memory, disk_mib(peer.state) - disk
            print(f"{peer.name}: grew by {grown[0]:.1f} MiB of memory and {grown[1]:.1f} MiB of disk")
            self.assertLessEqual(grown[0], MEMORY_GROWTH_MIB, peer.name)
            self.assertLessEqual(grown[1], DISK_GROWTH_MIB, peer.name)


if __name__ == "__main__":
    unittest.main()
