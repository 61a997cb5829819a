#!/usr/bin/env python3
"""Every planted bug must be found: bugs_test.py GODWIT-SIM-BUGS SEEDS SCENARIO:BUG..."""

import subprocess
import sys

SAFETY, LIVENESS = 3, 4


def main():
    simulator, seeds, *bugs = sys.argv[1:]
    missed = 0
    for entry in bugs:
        scenario, bug = entry.rsplit(":", 1)
        run = subprocess.run([simulator, scenario, "--bug", bug, "--seeds", seeds], capture_output=True, text=True)
        found = run.returncode in (SAFETY, LIVENESS) or run.returncode < 0
        print(f"bug {bug}: {run.stdout.splitlines()[0] if found else f'NOT FOUND in {seeds} seeds'}", flush=True)
        missed += not found
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
