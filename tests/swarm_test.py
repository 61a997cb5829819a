"""Input files reach the hosts of a job from each other; a second job finds them there."""

import os
import subprocess
import unittest

from support.grid import Grid, wait_until
from support.harness import SCALE, EndToEnd, mobile, native, run
from support.programs import SOURCE_ROOT

READ_ALL = SOURCE_ROOT / "bench/probes/read_all.c"
HOSTS = 4 if SCALE == 1 else 8
MIB = 1 << 20
SIZE = 12 * MIB if SCALE == 1 else 64 * MIB
UPLINK = "80mbit"


class SwarmTest(EndToEnd):
    def start_grid(self, hosts: int = HOSTS) -> Grid:
        """The first peer lends nothing, so that all work is done by the others."""
        self.grid = Grid(self, peers=hosts + 1, slots=1)
        self.home = self.grid.peers[0]
        run(self.home.command("share", "--cores", 0), check=True)
        return self.grid

    def limit_uplinks(self) -> None:
        for number in range(1, len(self.grid.peers) + 1):
            words = ["ip", "netns", "exec", self.grid.network.namespace(number), "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", UPLINK,
                     "burst", "256kb", "latency", "100ms"]
            subprocess.run(words, check=True, capture_output=True)

    def sent(self, number: int) -> int:
        """Bytes that a host has sent since it was made, headers included."""
        words = ["ip", "netns", "exec", self.grid.network.namespace(number), "cat", "/sys/class/net/eth0/statistics/tx_bytes"]
        return int(subprocess.run(words, check=True, capture_output=True).stdout)

    def read_everywhere(self, *inputs: str) -> None:
        """A job whose tasks read the inputs on every host."""
        hosts, tasks = len(self.grid.peers) - 1, 2 * (len(self.grid.peers) - 1)  # two for each host at first
        words = [word for path in inputs for word in ("--input", f"{path}:/{os.path.basename(path)}")]
        names = [f"/{os.path.basename(path)}" for path in inputs]
        done = run(self.home.command("run", mobile(READ_ALL), "--workers", hosts, "--tasks", tasks, *words, "--", *names))
        self.assertEqual(done.code, 0, f"{done}\n{self.grid.logs()}")
        expected = subprocess.run([native(READ_ALL), *inputs], check=True, capture_output=True).stdout
        self.assert_output(done.out, expected * tasks, self.grid.logs())

    def make_input(self, name: str, size: int) -> str:
        path = self.folder / name
        path.write_bytes(os.urandom(size))
        return str(path)

    def test_home_sends_an_input_about_once_and_a_second_job_transfers_nothing(self):
        self.start_grid()
        self.limit_uplinks()
        big = self.make_input("big", SIZE)
        before = self.sent(1)
        self.read_everywhere(big)
        copies = (self.sent(1) - before) / SIZE
        for _ in range(5):  # a host that was slow to begin left its tasks, and with them its input, to the others
            if all(peer.node()["storage"]["cache_bytes"] >= SIZE for peer in self.grid.peers[1:]):
                break
            self.read_everywhere(big)
        before = self.sent(1)
        self.read_everywhere(big)
        again = self.sent(1) - before
        cached = [peer.node()["storage"] for peer in self.grid.peers[1:]]
        print(f"home sent {copies:.2f} copies of {SIZE // MIB} MiB to {HOSTS} hosts, and {again} bytes for the second job")
        self.assertLessEqual(copies, 2, self.grid.logs())
        self.assertLess(again, MIB, "the second job transfers no input")
        self.assertTrue(any(storage["cache_hit_bytes"] >= SIZE for storage in cached), cached)
        self.assertTrue(all(storage["cache_bytes"] <= storage["cache_limit"] for storage in cached), cached)

    def test_a_cache_of_nothing_keeps_nothing(self):
        self.start_grid(hosts=1)
        host = self.grid.peers[1]
        run(host.command("share", "--cache", "0"), check=True)
        self.read_everywhere(self.make_input("some", 3 * MIB))
        wait_until("everything of the job is removed", lambda: not any(path.is_file() for path in (host.state / "blobs").rglob("*")),
                   self.grid.logs)
        self.assertEqual(host.node()["storage"]["cache_bytes"], 0)

    def test_a_host_that_dies_while_it_sends_delays_nobody_for_long(self):
        grid = self.start_grid()
        self.limit_uplinks()
        big = self.make_input("big", SIZE)
        words = self.home.command("run", mobile(READ_ALL), "--workers", HOSTS, "--tasks", 2 * HOSTS, "--input", f"{big}:/big", "--", "/big")
        command = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(command.kill)
        before = self.sent(3)
        wait_until("a host sends to others", lambda: self.sent(3) - before > MIB or command.poll() is not None, grid.logs)
        grid.peers[2].kill()
        out, errors = command.communicate(timeout=300)
        self.assertEqual(command.returncode, 0, f"{errors}\n{grid.logs()}")
        expected = subprocess.run([native(READ_ALL), big], check=True, capture_output=True).stdout
        self.assert_output(out, expected * (2 * HOSTS), grid.logs())


if __name__ == "__main__":
    unittest.main()
