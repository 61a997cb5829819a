"""Faults drawn from a seed: what goes wrong, when, where and for how long; and the player that makes it happen to a grid."""

import random
import threading
import time
from dataclasses import dataclass

from support.grid import Grid

ALL = 0  # in the place of a peer's number


@dataclass(frozen=True)
class Fault:
    at: float  # seconds after the script began
    kind: str  # kill, pause, cut, power
    peer: int
    seconds: float

    def __str__(self) -> str:
        where = "all peers" if self.peer == ALL else f"peer {self.peer}"
        return f"{self.at:6.1f} s: {self.kind} {where} for {self.seconds:.1f} s"


@dataclass(frozen=True)
class Bounds:
    """Within which a script is drawn. Peer 1 is the home."""

    faults: int
    span: float  # all begin within so many seconds
    down: float  # the longest time a killed daemon is away
    pause: float  # the longest SIGSTOP
    cut: float  # the longest time without links
    kinds: tuple[str, ...] = ("kill", "pause", "cut")
    all_links: bool = True  # one cut in four is of all links


class Script:
    """What goes wrong in one run. Its text is enough to do it again."""

    def __init__(self, seed: int, faults: list[Fault]):
        self.seed = seed
        self.faults = sorted(faults, key=lambda fault: fault.at)

    @staticmethod
    def draw(seed: int, peers: int, bounds: Bounds) -> "Script":
        rng = random.Random(seed)
        faults = []
        for _ in range(bounds.faults):
            kind = rng.choice(bounds.kinds)
            peer = ALL if kind == "cut" and bounds.all_links and rng.random() < 0.25 else rng.randint(1, peers)
            longest = {"kill": bounds.down, "power": bounds.down, "pause": bounds.pause, "cut": bounds.cut}[kind]
            faults.append(Fault(rng.random() * bounds.span, kind, peer, longest * rng.random() ** 2))  # most are short
        return Script(seed, faults)

    def __str__(self) -> str:
        return f"seed {self.seed}:\n" + "\n".join(f"  {fault}" for fault in self.faults)


class Player:
    """Makes the faults of a script happen to a grid, in a thread of its own. After finish() all peers are up and all links are there.

    Faults may overlap: what several of them hold down comes back with the last one.
    """

    def __init__(self, grid: Grid, script: Script):
        self._grid, self._script = grid, script
        self._held: dict[tuple[str, int], int] = {}
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._play)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def finish(self) -> None:
        self._thread.join()
        if self._failure:
            raise self._failure

    def _play(self) -> None:
        steps = [(fault.at, 0, fault) for fault in self._script.faults] + [(fault.at + fault.seconds, 1, fault) for fault in self._script.faults]
        began = time.monotonic()
        for at, ends, fault in sorted(steps, key=lambda step: step[:2]):
            time.sleep(max(0.0, began + at - time.monotonic()))
            try:
                for peer in range(1, len(self._grid.peers) + 1) if fault.peer == ALL else [fault.peer]:
                    (self._release if ends else self._hold)(fault.kind, peer)
            except BaseException as failure:  # the other faults still end
                self._failure = self._failure or failure

    def _hold(self, kind: str, number: int) -> None:
        held = "down" if kind in ("kill", "power") else kind
        self._held[held, number] = self._held.get((held, number), 0) + 1
        peer = self._grid.peers[number - 1]
        if kind == "cut":
            self._grid.network.cut(number)
        elif kind == "pause":
            peer.pause()
        elif self._held[held, number] == 1:
            peer.kill()
            if kind == "power":
                peer.disk.lose_power()

    def _release(self, kind: str, number: int) -> None:
        held = "down" if kind in ("kill", "power") else kind
        self._held[held, number] -= 1
        if self._held[held, number] > 0:
            return
        peer = self._grid.peers[number - 1]
        if kind == "cut":
            self._grid.network.mend(number)
        elif kind == "pause":
            peer.resume()
        else:
            peer.launch()  # whether it comes up is seen at the end: it may be slow, or cut off
