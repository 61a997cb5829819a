"""Programs over many inputs on a grid."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._api import Api, GodwitError, default_socket

_PAGE = 1000
_PATIENCE_SECONDS, _PAUSE_SECONDS = 10, 0.02


@dataclass(frozen=True)
class Result:
    """What one task of a job has left."""

    index: int
    input: Any
    output: bytes
    errors: bytes
    exit_code: int
    why: str  # why it failed; empty: it did not

    @property
    def ok(self) -> bool:
        return not self.why and self.exit_code == 0

    @property
    def text(self) -> str:
        """What it printed, without the last line end."""
        return self.output.decode().removesuffix("\n")

    def check(self) -> Result:
        """Itself, or TaskError if the task failed."""
        if not self.ok:
            raise TaskError(self)
        return self


class TaskError(GodwitError):
    def __init__(self, result: Result):
        said = result.errors.decode(errors="replace").strip()
        why = result.why or f"it exited with code {result.exit_code}"
        super().__init__(f"the task for input {result.input!r} failed: {why}" + (f"\n{said}" if said else ""))
        self.result = result


class Job:
    """A job of the grid: one task for each input."""

    def __init__(self, api: Api, id: str, inputs: Sequence[Any]):
        self._api, self.id, self.inputs = api, id, inputs

    def status(self) -> dict[str, Any]:
        """What `godwit job show` says."""
        return self._api.json("GET", f"/v1/jobs/{self.id}")

    def cancel(self) -> None:
        self._api.json("POST", f"/v1/jobs/{self.id}/cancel")

    def events(self) -> Iterator[dict[str, Any]]:
        """What happens to it, from its beginning to its end."""
        return self._api.lines(f"/v1/jobs/{self.id}/events")

    def results(self) -> Iterator[Result]:
        """The result of each task as soon as it has ended, in that order. Tasks that never ran, because the job was cancelled, come last."""
        seen: set[int] = set()
        for event in self.events():
            if event["event"] == "tasks_ended":
                for first, count in event["tasks"]:
                    yield from self._ended(first, first + count, seen)
        yield from self._ended(0, len(self.inputs), seen)  # an event names at most so many ranges
        for index in range(len(self.inputs)):
            if index not in seen:
                yield Result(index, self.inputs[index], b"", b"", 1, "it has not run")

    def wait(self) -> list[Result]:
        """All results, in the order of the inputs."""
        return sorted(self.results(), key=lambda result: result.index)

    def _ended(self, first: int, end: int, seen: set[int]) -> Iterator[Result]:
        while first < end:
            page = self._tasks(first, min(end - first, _PAGE))
            over = {task["task"]: task for task in page if task["state"] in ("ended", "failed", "skipped") and task["task"] < end}
            fresh = [number for number in sorted(over) if number not in seen]
            printed = self._printed(fresh)
            for number in fresh:
                task, (output, errors) = over[number], printed[number]
                seen.add(number)
                why = "" if task["state"] == "ended" else task["sentence"] or f"it exited with code {task['exit_code']}"
                yield Result(number, self.inputs[number], output, errors, task["exit_code"], why)
            first = page[-1]["task"] + 1 if page else end

    def _tasks(self, first: int, limit: int) -> list[dict[str, Any]]:
        """A job that has just ended has no list of its tasks until its last record is on disk."""
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._api.json("GET", f"/v1/jobs/{self.id}/tasks?from={first}&limit={limit}")["tasks"]
            except GodwitError as error:
                if "not recorded" not in str(error) or time.monotonic() > give_up:
                    raise
            time.sleep(_PAUSE_SECONDS)

    def _printed(self, tasks: list[int]) -> dict[int, tuple[bytes, bytes]]:
        printed = {task: (b"", b"") for task in tasks}
        if not tasks:
            return printed
        pieces: dict[tuple[int, int], list[bytes]] = {}
        for frame in self._api.frames(f"/v1/jobs/{self.id}/frames?order=task&tasks={_ranges(tasks)}"):
            pieces.setdefault((frame.task, frame.stream), []).append(frame.bytes)
        for task in tasks:
            printed[task] = (b"".join(pieces.get((task, 1), [])), b"".join(pieces.get((task, 2), [])))
        return printed


class Grid:
    """The grid that the daemon of this machine has joined; one on this machine alone will do.

    >>> for result in Grid().map("square.c", range(1000)):
    ...     print(result)
    """

    def __init__(self, socket: str | os.PathLike[str] | None = None, godwit: str | os.PathLike[str] | None = None):
        self._api = Api(Path(socket) if socket else default_socket())
        self._godwit = str(godwit or os.environ.get("GODWIT", "godwit"))

    def submit(self, program: str | os.PathLike[str], inputs: Iterable[Any], *, args: Sequence[str] = ("{}",), workers: int | None = None,
               name: str | None = None, files: Iterable[str] = (), options: Sequence[str] = ()) -> Job:
        """Builds the program if needed, signs the job as this user and submits it: the program runs once for each input.

        `args` are its arguments, in which {} stands for the input and {key} for a value of an input that is a dict. `files` are paths or
        URLs that each task may read. `options` are further words for `godwit run`, such as "--retries", "2".
        """
        listed = list(inputs)
        if not listed:
            raise GodwitError("there are no inputs")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as rows:
            json.dump(listed, rows)
            rows.flush()
            words = [self._godwit, "--config", f"socket={self._api.path}", "run", str(program), "--from-json", rows.name]
            words += ["--detach", "-o", "quiet", "--workers", str(workers or min(len(listed), 1 << 12))]
            words += ["--name", name] if name else []
            words += [word for file in files for word in ("--input", str(file))]
            done = subprocess.run([*words, *options, "--", *args], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise GodwitError(done.stderr.strip() or f"godwit run failed with exit code {done.returncode}")
        return Job(self._api, done.stdout.strip(), listed)

    def map(self, program: str | os.PathLike[str], inputs: Iterable[Any], **options: Any) -> Iterator[str]:
        """What the program prints for each input, in the order of the inputs, each as soon as it and those before it are there. Raises
        TaskError where a task failed. The options are those of submit()."""
        waiting: dict[int, Result] = {}
        given = 0
        for result in self.submit(program, inputs, **options).results():
            waiting[result.index] = result
            while given in waiting:
                yield waiting.pop(given).check().text
                given += 1

    def job(self, id: str, inputs: Sequence[Any]) -> Job:
        """A job that was submitted before, perhaps by another process."""
        return Job(self._api, id, inputs)

    def executor(self, program: str | os.PathLike[str], **options: Any) -> Executor:
        return Executor(self, program, **options)

    async def amap(self, program: str | os.PathLike[str], inputs: Iterable[Any], **options: Any) -> AsyncIterator[Result]:
        """Job.results() for asyncio: the result of each task as soon as it has ended."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Result | BaseException | None] = asyncio.Queue()

        def put(item: Result | BaseException | None) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, item)

        def follow() -> None:
            try:
                for result in self.submit(program, inputs, **options).results():
                    put(result)
                put(None)
            except BaseException as error:  # raised where it is awaited
                put(error)

        threading.Thread(target=follow, daemon=True).start()
        while (item := await queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item


class Executor(concurrent.futures.Executor):
    """`concurrent.futures` over a grid: submit(input) gives a future of what the program prints for it.

    Calls made close together are one job. `map` of a whole list is one job at once; use that where the inputs are known.
    """

    def __init__(self, grid: Grid, program: str | os.PathLike[str], *, gather: float = 0.05, **options: Any):
        self._grid, self._program, self._gather, self._options = grid, program, gather, options
        self._lock = threading.Lock()
        self._waiting: list[tuple[Any, concurrent.futures.Future[str]]] = []
        self._threads: list[threading.Thread] = []
        self._closed = False

    def submit(self, input: Any, /) -> concurrent.futures.Future[str]:  # type: ignore[override]
        future: concurrent.futures.Future[str] = concurrent.futures.Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the executor was shut down")
            self._waiting.append((input, future))
            if len(self._waiting) == 1:
                thread = threading.Thread(target=self._run, daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def map(self, *inputs: Iterable[Any], timeout: float | None = None, chunksize: int = 1) -> Iterator[str]:  # type: ignore[override]
        (only,) = inputs
        futures = [self.submit(one) for one in only]
        return (future.result(timeout) for future in futures)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closed = True
            if cancel_futures:
                for _, future in self._waiting:
                    future.cancel()
        if wait:
            for thread in self._threads:
                thread.join()

    def _run(self) -> None:
        threading.Event().wait(self._gather)
        with self._lock:
            batch, self._waiting = self._waiting, []
        batch = [(one, future) for one, future in batch if future.set_running_or_notify_cancel()]
        if not batch:
            return
        left = dict(enumerate(future for _, future in batch))
        try:
            for result in self._grid.submit(self._program, [one for one, _ in batch], **self._options).results():
                future = left.pop(result.index)
                future.set_result(result.text) if result.ok else future.set_exception(TaskError(result))
        except BaseException as error:
            for future in left.values():
                future.set_exception(error)


def _ranges(numbers: list[int]) -> str:
    """As the API takes them: 3-9,12."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
