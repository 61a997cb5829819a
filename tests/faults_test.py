"""Jobs whose tasks compute, read clocks and fork, over four daemons that are killed, paused and cut off, the home too.

`make soak` does 50 runs; GODWIT_RUNS makes it fewer, GODWIT_SEED is that of the first, GODWIT_AT_ONCE how many grids run at the same time,
GODWIT_SHORTER divides all times of the faults.
"""

import concurrent.futures
import os
import unittest

from support.faults import Bounds, Fault, Script
from support.grid import Grid
from support.harness import SCALE, EndToEnd
from support.mixed_job import MixedJob
from support.trial import Trial

PEERS, SLOTS = 4, 2
SEED = int(os.environ.get("GODWIT_SEED", "1"))
RUNS = int(os.environ.get("GODWIT_RUNS", "50"))
AT_ONCE = int(os.environ.get("GODWIT_AT_ONCE", "4"))
SHORTER = float(os.environ.get("GODWIT_SHORTER", "1"))

QUICK_JOB = MixedJob(tasks=20, lines=9, steps=4_000_000, rest_ms=120)
QUICK = Bounds(faults=6, span=6, down=2, pause=3, cut=3)
LONG_JOB = MixedJob(tasks=100, lines=30, steps=4_000_000, rest_ms=300)
LONG = Bounds(faults=8, span=120 / SHORTER, down=60 / SHORTER, pause=150 / SHORTER, cut=120 / SHORTER)
LONGEST_PAUSE, LONGEST_CUT, HOME_AWAY = 150 / SHORTER, 200 / SHORTER, 900 / SHORTER


class FaultsTest(EndToEnd):
    def test_output_is_right_under_faults(self):
        if SCALE == 1:
            self.a_few_faults()
        else:
            self.many_faults()

    def a_few_faults(self):
        QUICK_JOB.prepare()
        grid = Grid(self, peers=PEERS, slots=SLOTS)
        print(Trial(grid, QUICK_JOB, Script.draw(SEED, PEERS, QUICK), patience=300).run())

    def many_faults(self):
        LONG_JOB.prepare()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as runs:
            trials = [runs.submit(self.one_run, SEED + number, script) for number, script in enumerate(self.scripts())]
            failures = [str(trial.exception()) for trial in trials if trial.exception()]
        if failures:
            self.fail(f"{len(failures)} of {RUNS} runs failed:\n" + "\n\n".join(failures))

    @staticmethod
    def scripts() -> list[Script]:
        """One run in five has all links cut for 200 s, one in five a pause of 150 s, and two a home that is away for 15 minutes."""
        scripts = []
        for number in range(RUNS):
            drawn = Script.draw(SEED + number, PEERS, LONG)
            if number % 5 == 1:
                drawn.faults.append(Fault(20 / SHORTER, "cut", 0, LONGEST_CUT))
            if number % 5 == 2:
                drawn.faults.append(Fault(20 / SHORTER, "pause", 1 + number % PEERS, LONGEST_PAUSE))
            if number in (3, RUNS // 2 + 3):
                drawn.faults.append(Fault(15 / SHORTER, "kill", 1, HOME_AWAY))
            scripts.append(Script(drawn.seed, drawn.faults))
        return scripts

    def one_run(self, seed: int, script: Script) -> None:
        case = unittest.TestCase()
        try:
            print(Trial(Grid(case, peers=PEERS, slots=SLOTS), LONG_JOB, script, patience=900).run(), flush=True)
        except BaseException as failure:
            print(f"FAILED {failure}", flush=True)
            raise
        finally:
            case.doCleanups()


if __name__ == "__main__":
    unittest.main()
