"""One job under the faults of one script. The output must be right, and what was shown once must never change."""

import http.client
import os
import shutil
import time
from pathlib import Path

from support.faults import Player, Script
from support.grid import Grid
from support.harness import SCRATCH, Finished, run
from support.mixed_job import MixedJob

LOOK_EVERY_SECONDS = 0.3


class ShownOutput:
    """What a user of the home has seen of a job. Looks again and again; fails if something seen before is different."""

    def __init__(self, home, job: str):
        self._home, self._job = home, job
        self.bytes = b""

    def look(self) -> bool:
        """Whether the home answered."""
        try:
            now = self._home.output(self._job)
        except (OSError, http.client.HTTPException):
            return False
        if not now.startswith(self.bytes):
            at = next((i for i, (a, b) in enumerate(zip(now, self.bytes)) if a != b), len(now))
            raise AssertionError(f"output that was shown has changed: {len(self.bytes)} bytes became {len(now)}, "
                                 f"from byte {at} on {self.bytes[at:at + 80]!r} is now {now[at:at + 80]!r}")
        self.bytes = now
        return True


class Trial:
    """REQUIRES: `job` is prepared. `patience` is how long the job may take once the last fault is over."""

    def __init__(self, grid: Grid, job: MixedJob, script: Script, patience: float, checkpoint_every: str = "500ms"):
        self._grid, self._job, self._script, self._patience = grid, job, script, patience
        self._checkpoint_every = checkpoint_every
        self.home = grid.peers[0]
        self.id = ""

    def run(self) -> str:
        """What was seen, in one line; a failure has the script in it, and leaves the logs of all daemons behind."""
        began = time.monotonic()
        try:
            shown = self._run()
            return f"seed {self._script.seed}: right after {time.monotonic() - began:.0f} s; resumed {shown['resumed']}, restarted {shown['restarted']}"
        except BaseException as failure:
            folder = self._keep_logs()
            raise AssertionError(f"{self._script}\njob {self.id}, after {time.monotonic() - began:.0f} s: {failure}\n"
                                 f"{self._explain()}\nlogs: {folder}") from failure

    def _run(self) -> dict:
        self.submit()
        player = Player(self._grid, self._script)
        player.start()
        try:
            state = self._watch(player)
        finally:
            player.finish()
        if state != "done":
            raise AssertionError(f"the job is {state}")
        for peer in self._grid.peers:
            peer.wait_ready()
        self._job.check(self.home.output(self.id))
        return self.home.job(self.id)

    def submit(self) -> None:
        words = self.home.command(*self._job.words(workers=2 * len(self._grid.peers), checkpoint_every=self._checkpoint_every))
        self.id = run(words, check=True).out.decode().strip()

    def _watch(self, player: Player) -> str:
        shown = ShownOutput(self.home, self.id)
        deadline = None
        while True:
            for peer in self._grid.peers:
                peer.check_alive()
            if deadline is None and player.is_over:
                deadline = time.monotonic() + self._patience
            if shown.look() and player.is_over:
                state = self.home.job(self.id)["state"]
                if state != "running":
                    shown.look()
                    return state
            if deadline and time.monotonic() > deadline:
                raise AssertionError(f"the job is not over {self._patience:.0f} s after the last fault")
            time.sleep(LOOK_EVERY_SECONDS)

    def _keep_logs(self) -> Path:
        folder = SCRATCH / "failed" / f"{os.getpid()}-seed{self._script.seed}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for peer in self._grid.peers:
            shutil.copy(peer.log, folder / f"{peer.name}.log")
        return folder

    def _explain(self) -> str:
        said = []
        for words in (("job", "show", self.id), ("job", "explain", self.id)):
            try:
                done: Finished = self.home.ask(*words)
                said.append(f"{done.out.decode(errors='replace')}{done.err}"[-2500:])
            except Exception as failure:  # the trial has failed already, for another reason
                said.append(f"{words}: {failure}")
        return "\n".join(said)
