"""Power loss: a daemon is killed, and of its disk remains what was flushed. It starts again, and nothing that was shown has changed.

Each peer of the grid is home, host or keeper at the moment of the loss, so each of the roles has its turn. `make soak` does 20 runs;
GODWIT_RUNS, GODWIT_SEED and GODWIT_AT_ONCE as in faults_test.py.
"""

import concurrent.futures
import dataclasses
import os
import unittest

from support.faults import Bounds, Script
from support.grid import Grid
from support.harness import SCALE, EndToEnd
from support.loop_disk import LoopDisk
from support.mixed_job import MixedJob
from support.trial import Trial

PEERS, SLOTS, DISK_MIB = 4, 2, 192
SEED = int(os.environ.get("GODWIT_SEED", "1"))
RUNS = int(os.environ.get("GODWIT_RUNS", "20" if SCALE > 1 else "1"))
AT_ONCE = int(os.environ.get("GODWIT_AT_ONCE", "4"))

JOB = MixedJob(tasks=20, lines=9, steps=4_000_000, rest_ms=120) if SCALE == 1 else MixedJob(tasks=60, lines=20, steps=4_000_000, rest_ms=200)
LOSSES = Bounds(faults=4 if SCALE == 1 else 8, span=6 if SCALE == 1 else 30, down=2, pause=0, cut=0, kinds=("power",))


class LoopDiskTest(EndToEnd):
    """The instrument itself: it forgets what was not flushed, and only that."""

    def test_only_flushed_data_survives_a_power_loss(self):
        disk = LoopDisk(self.folder / "disk.img", self.folder / "disk", mib=16)
        self.addCleanup(disk.close)
        kept, changed, forgotten = (disk.folder / name for name in ("kept", "changed", "forgotten"))
        for path in (kept, changed):
            with path.open("wb") as file:
                file.write(b"flushed" * 1000)
                file.flush()
                os.fsync(file.fileno())
        forgotten.write_bytes(b"not flushed" * 1000)
        with changed.open("r+b") as file:
            file.write(b"not flushed" * 100)
        self.assertTrue(forgotten.exists())
        disk.lose_power()
        self.assertEqual(kept.read_bytes(), b"flushed" * 1000)
        self.assertEqual(changed.read_bytes(), b"flushed" * 1000)
        self.assertFalse(forgotten.exists())

    def test_a_full_disk_takes_nothing_until_there_is_room(self):
        disk = LoopDisk(self.folder / "disk.img", self.folder / "disk", mib=16)
        self.addCleanup(disk.close)
        disk.fill()
        with self.assertRaises(OSError):
            (disk.folder / "more").write_bytes(bytes(1 << 20))
        disk.make_room()
        (disk.folder / "more").write_bytes(bytes(1 << 20))


class PowerLossTest(EndToEnd):
    def test_every_daemon_starts_again_and_nothing_shown_changes(self):
        JOB.prepare()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as runs:
            trials = [runs.submit(self.one_run, SEED + number) for number in range(RUNS)]
            failures = [str(trial.exception()) for trial in trials if trial.exception()]
        if failures:
            self.fail(f"{len(failures)} of {RUNS} runs failed:\n" + "\n\n".join(failures))

    @staticmethod
    def script(seed: int) -> Script:
        """One loss at home in each run, the others anywhere."""
        first, *others = Script.draw(seed, PEERS, LOSSES).faults
        return Script(seed, [dataclasses.replace(first, peer=1), *others])

    def one_run(self, seed: int) -> None:
        case = unittest.TestCase()
        try:
            grid = Grid(case, peers=PEERS, slots=SLOTS, disk_mib=DISK_MIB)
            print(Trial(grid, JOB, self.script(seed), patience=300).run(), flush=True)
        except BaseException as failure:
            print(f"FAILED {failure}", flush=True)
            raise
        finally:
            case.doCleanups()


if __name__ == "__main__":
    unittest.main()
