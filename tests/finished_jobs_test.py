"""A daemon that has run a thousand jobs, which printed 1 GiB in all, starts as fast and as small as a new one.

`make test` does so with fewer jobs (GODWIT_JOBS), `make soak` with all of them.
"""

import concurrent.futures
import os
import time
import unittest

from support.grid import Grid, wait_until
from support.harness import SCALE, EndToEnd, mobile, run
from support.programs import SOURCE_ROOT

JOBS = int(os.environ.get("GODWIT_JOBS", "1000" if SCALE > 1 else "24"))
AT_ONCE = 8
LINES = 1 << 14  # of 64 bytes: 1 MiB
START_SECONDS, START_MIB = 1.0, 40


class FinishedJobsTest(EndToEnd):
    def test_do_not_burden_a_start(self):
        grid = Grid(self, peers=1, slots=2)
        peer = grid.peers[0]
        module = mobile(SOURCE_ROOT / "tests/guests/many_lines.c")
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
            jobs = list(threads.map(lambda number: self.submit(peer, module, number), range(JOBS)))
        patience = 3600 if SCALE > 1 else 300
        wait_until("all jobs are over", lambda: all(row["state"] != "running" for row in self.jobs(peer)), peer.last_words, patience,
                   pause=2)  # a list of a thousand jobs costs more than a job
        self.assertEqual(len(peer.output(jobs[-1])), LINES * 64)
        peer.stop()
        seconds = self.start(peer)
        memory = peer.memory_mib("VmHWM")
        print(f"{JOBS} jobs: starts in {seconds:.2f} s, {memory:.1f} MiB at most")
        self.assertEqual({row["state"] for row in self.jobs(peer)}, {"done"})
        self.assertEqual(peer.output(jobs[0]), self.expected(0), "the output of the first job is still there")
        if SCALE > 1:  # beside other tests a start takes as long as it takes
            self.assertLessEqual(seconds, START_SECONDS)
        self.assertLessEqual(memory, START_MIB)

    @staticmethod
    def submit(peer, module, number: int) -> str:
        words = peer.command("run", module, "--detach", "--workers", 1, "--checkpoint-every", "off", "-o", "quiet", "--", number, LINES)
        return run(words, check=True).out.decode().strip()

    @staticmethod
    def expected(number: int) -> bytes:
        return b"".join(b"%-30d %-31d.\n" % (number, line) for line in range(LINES))

    @staticmethod
    def jobs(peer) -> list[dict]:
        return peer.get("/v1/jobs")["jobs"]

    @staticmethod
    def start(peer) -> float:
        """Until it answers."""
        began = time.monotonic()
        peer.launch()
        while True:
            try:
                peer.node()
                return time.monotonic() - began
            except OSError:
                peer.check_alive()
                time.sleep(0.005)


if __name__ == "__main__":
    unittest.main()
