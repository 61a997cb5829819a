"""Run C, C++ and WebAssembly programs on a grid of idle machines.

    from godwit import Grid

    for line in Grid().map("square.c", range(1000)):
        print(line)

The program runs once for each input, which is its argument; what it prints is the result. Needs the `godwit` command, a daemon
(`godwit up`), and nothing but the standard library.
"""

from ._api import GodwitError
from ._grid import Executor, Grid, Job, Result, TaskError

__all__ = ["Executor", "GodwitError", "Grid", "Job", "Result", "TaskError"]
