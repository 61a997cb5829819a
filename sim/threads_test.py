#!/usr/bin/env python3
"""A seed gives the same run on any number of threads: threads_test.py GODWIT-SIM SCENARIO..."""

import subprocess
import sys


def trace_of(simulator, scenario, threads):
    run = subprocess.run([simulator, scenario, "--seed", "3", "--threads", str(threads)], capture_output=True, text=True)
    goods = [line for line in run.stdout.splitlines() if " good, " in line and " trace " in line]
    if run.returncode != 0 or len(goods) != 1:
        sys.exit(f"{scenario} with {threads} threads: exit code {run.returncode}\n{run.stdout}{run.stderr}")
    return goods[0]


def main():
    simulator, *scenarios = sys.argv[1:]
    for scenario in scenarios:
        seen = {threads: trace_of(simulator, scenario, threads) for threads in (1, 2, 3)}
        if len(set(seen.values())) != 1:
            sys.exit(f"{scenario}: {seen}")
        print(f"{scenario}: {seen[1]}")


if __name__ == "__main__":
    main()
