#!/usr/bin/python3
"""Dask as a reference for godwit-bench: prints one line of JSON.

    dask_tasks.py noop TASKS                 functions that do nothing: how many a second, and how long one takes
    dask_tasks.py job TASKS PROGRAM ARGUMENT MACHINES    seconds for so many runs of a program; MACHINES: JSON, a list of words before each worker
"""

import asyncio
import json
import subprocess
import sys
import time

from distributed import Client, Scheduler

WORKER = "from distributed import Worker; import asyncio, sys\n" \
         "async def main():\n" \
         "    worker = await Worker(sys.argv[1], nthreads=1)\n" \
         "    await worker.finished()\n" \
         "asyncio.run(main())\n"


def nothing(_):
    return None


def run_program(_, program, argument):
    subprocess.run([program, argument], check=True)


async def noop(client, tasks):
    await client.gather(client.map(nothing, range(100), pure=False))  # warm
    began = time.perf_counter()
    await client.gather(client.map(nothing, range(tasks), pure=False))
    took = time.perf_counter() - began
    single = []
    for number in range(300):
        began_one = time.perf_counter()
        await client.submit(nothing, number, pure=False)
        single.append((time.perf_counter() - began_one) * 1000)
    single.sort()
    return {"tasks_per_s": tasks / took, "latency_ms_p50": single[len(single) // 2], "latency_ms_p99": single[len(single) * 99 // 100]}


async def job(client, tasks, program, argument):
    began = time.perf_counter()
    await client.gather(client.map(run_program, range(tasks), program=program, argument=argument, pure=False))
    return {"seconds": time.perf_counter() - began}


async def main():
    mode, tasks = sys.argv[1], int(sys.argv[2])
    machines = json.loads(sys.argv[5]) if mode == "job" else [[], []]
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        workers = [subprocess.Popen([*words, sys.executable, "-c", WORKER, scheduler.address], stderr=subprocess.DEVNULL) for words in machines]
        try:
            async with Client(scheduler.address, asynchronous=True) as client:
                await client.wait_for_workers(len(workers), timeout=60)
                print(json.dumps(await (noop(client, tasks) if mode == "noop" else job(client, tasks, sys.argv[3], sys.argv[4]))))
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


asyncio.run(main())
