"""Files of a daemon are damaged, cut short or removed while it is down. The job's output is right, or the job ends with a sentence that says what was lost.

`make test` damages one kind of file at home and one elsewhere; `make soak` every kind in all ways. GODWIT_SEED chooses the files,
GODWIT_DAMAGE the kinds: "flip records.db,remove jobs/*/*.seg".
"""

import os
import random
import time
import unittest

from support.damage import Damage, kinds_of_files
from support.grid import Grid, Peer, wait_until
from support.harness import SCALE, EndToEnd, run
from support.mixed_job import MixedJob

PEERS, SLOTS = 3, 2
SEED = int(os.environ.get("GODWIT_SEED", "1"))
CHOSEN = os.environ.get("GODWIT_DAMAGE", "")
JOB = MixedJob(tasks=12, lines=9, steps=4_000_000, rest_ms=150)
PATIENCE_SECONDS = 300


class DamageTest(EndToEnd):
    def setUp(self):
        super().setUp()
        JOB.prepare()
        self.rng = random.Random(SEED)

    def start_grid(self) -> Grid:
        case = unittest.TestCase()
        self.addCleanup(case.doCleanups)
        self.close_grid = case.doCleanups
        return Grid(case, peers=PEERS, slots=SLOTS)

    def test_at_home(self):
        self.damage_each_kind(lambda grid: grid.peers[0])

    def test_at_a_host_and_keeper(self):
        self.damage_each_kind(lambda grid: grid.peers[1])

    @unittest.skipIf(SCALE == 1, "in make soak")
    def test_at_a_keeper(self):
        def keeper(grid: Grid) -> Peer:
            return grid.peers[2]

        self.damage_each_kind(keeper, prepare=lambda grid: keeper(grid).ask("share", "--cores", 0))

    def damage_each_kind(self, victim_of, prepare=lambda grid: None) -> None:
        done: set[tuple[str, str]] = set()
        while True:
            grid = self.start_grid()
            prepare(grid)
            job = self.submit(grid.peers[0])
            wait_until("a part of the tasks is done", lambda: grid.peers[0].job(job)["ended"] >= 2, grid.logs)
            victim = victim_of(grid)
            victim.kill()
            kinds = kinds_of_files(victim.state)
            left = [(kind, how) for kind in kinds for how in ("flip", "cut", "remove") if (kind, how) not in done and self.is_chosen(kind, how)]
            if not left:
                victim.launch()
                self.close_grid()
                return
            done.add(left[0])
            with self.subTest(kind=left[0][0], how=left[0][1], seed=SEED, victim=victim.name):
                self.damage(grid, victim, job, Damage(left[0][1], kinds[left[0][0]], self.rng))
            self.close_grid()

    @staticmethod
    def is_chosen(kind: str, how: str) -> bool:
        if CHOSEN:
            return f"{how} {kind}" in CHOSEN.split(",")
        return SCALE > 1 or (kind.startswith("blobs") and how == "remove")

    def submit(self, home: Peer) -> str:
        return run(home.command(*JOB.words(workers=PEERS * SLOTS, checkpoint_every="300ms")), check=True).out.decode().strip()

    def damage(self, grid: Grid, victim: Peer, job: str, damage: Damage) -> None:
        said = len(victim.last_words())
        victim.launch()
        if not self.starts(victim):
            why = victim.log.read_text(errors="replace")[said:].strip().splitlines()[-1]
            self.assertRegex(why, r"^godwit.*: .*(damaged|missing|cannot|is not|lost|holds no)", f"{damage}: the daemon ended without a sentence")
            print(f"{victim.name}, {damage}: does not start: {why}")
            damage.undo()
            victim.start()
        state, sentence = self.wait_for_end(grid, job, damage)
        if state == "done":
            JOB.check(grid.peers[0].output(job))
        else:
            self.assertRegex(sentence, r"(lost|damaged|missing|gone)", f"{damage}: the job is {state} and does not say what was lost")
        print(f"{victim.name}, {damage}: {state} {sentence}", flush=True)

    @staticmethod
    def starts(peer: Peer) -> bool:
        """Whether it answers, rather than ends."""
        try:
            peer.wait_ready()
            return True
        except AssertionError:
            if peer.is_up():
                raise
            peer.forget()
            return False

    def wait_for_end(self, grid: Grid, job: str, damage: Damage) -> tuple[str, str]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            for peer in grid.peers:
                peer.check_alive()
            shown = grid.peers[0].job(job)
            if shown["state"] != "running":
                return shown["state"], shown["sentence"] or next((row["sentence"] for row in shown["thread_list"] if row["sentence"]), "")
            time.sleep(0.2)
        explained = grid.peers[0].ask("job", "explain", job)
        self.fail(f"{damage}: the job hangs: {grid.peers[0].job(job)}\n{explained.out.decode()}\n{grid.logs()}")


if __name__ == "__main__":
    unittest.main()
