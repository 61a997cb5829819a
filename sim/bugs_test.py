#!/usr/bin/env python3
"""Every planted bug must be found: bugs_test.py GODWIT-SIM-BUGS SCENARIO SEEDS BUG..."""

import subprocess
import sys

SAFETY, LIVENESS = 3, 4


def main():
    simulator, scenario, seeds, *bugs = sys.argv[1:]
    missed = []
    for bug in bugs:
        run = subprocess.run([simulator, scenario, "--bug", bug, "--seeds", seeds], capture_output=True, text=True)
        found = run.returncode in (SAFETY, LIVENESS) or run.returncode < 0
        print(f"bug {bug}: {run.stdout.splitlines()[0] if found else f'NOT FOUND in {seeds} seeds'}", flush=True)
        if not found:
            missed.append(bug)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
