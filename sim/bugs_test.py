#!/usr/bin/env python3
"""Every planted bug must be found, and the seed that finds it be good without it: bugs_test.py GODWIT-SIM SEEDS SCENARIO:BUG..."""

import re
import subprocess
import sys

SAFETY, LIVENESS = 3, 4


def run(simulator, scenario, bug, *options):
    return subprocess.run([simulator, scenario, "--bug", bug, *options], capture_output=True, text=True)


def find(simulator, scenario, bug, seeds):
    """Returns what was found, or why not, and whether that is as it should be."""
    failed = run(simulator, scenario, bug, "--seeds", seeds)
    if failed.returncode not in (SAFETY, LIVENESS) and failed.returncode >= 0:
        return f"NOT FOUND in {seeds} seeds", False
    sentence = failed.stdout.splitlines()[0]
    seed = re.match(r"seed (\d+):", sentence)[1]
    clean = run(simulator, scenario, "0", "--seed", seed)
    if clean.returncode != 0:
        return f"seed {seed} FAILS WITHOUT IT: {clean.stdout.splitlines()[0]}", False
    return sentence, True


def main():
    simulator, seeds, *bugs = sys.argv[1:]
    missed = 0
    for entry in bugs:
        scenario, bug = entry.rsplit(":", 1)
        sentence, found = find(simulator, scenario, bug, seeds)
        print(f"bug {bug}: {sentence}", flush=True)
        missed += not found
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
