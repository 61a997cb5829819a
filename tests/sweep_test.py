"""Sweeps: arrays whose tasks have values, input files, standard input and output files of their own, on several peers and alone.

`make soak` runs the sweep over 2,000 files on 4 peers.
"""

import json
import os
import subprocess
import unittest
from pathlib import Path

from support.grid import Grid, wait_until
from support.harness import EXIT_BAD_INPUT, GODWIT, SCALE, EndToEnd, environment, mobile, native, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/sweep_work.c"
FILES, PEERS = (200, 3) if SCALE == 1 else (2_000, 4)
SLOTS = 2
BAD = 7
BAD_CODE = 3
WAITING = 600  # seconds


def is_bad(number: int) -> bool:
    return number % (FILES // BAD) == 5 and number // (FILES // BAD) < BAD


def content_of(number: int) -> bytes:
    return (b"bad" if is_bad(number) else b"good") + b" file %d\n" % number * (1 + number % 50)


class SweepTest(EndToEnd):
    @classmethod
    def make_files(cls, folder: Path, count: int) -> list[Path]:
        (folder / "in").mkdir(exist_ok=True)
        names = [folder / "in" / f"{number:04}.txt" for number in range(count)]
        for number, name in enumerate(names):
            name.write_bytes(content_of(number))
        return names

    def alone(self, *words, folder=None, stdin=b""):
        """Runs a command where no daemon is: one is started for it."""
        runtime = self.folder / "runtime"
        runtime.mkdir(exist_ok=True)
        words = [str(word) for word in (GODWIT, *words)]
        done = subprocess.run(words, capture_output=True, cwd=folder or self.folder, input=stdin, check=False, timeout=WAITING,
                              env=dict(environment(), XDG_RUNTIME_DIR=str(runtime)))
        return done

    @staticmethod
    def outputs_of(folder: Path) -> dict[str, bytes]:
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

    def natively(self, files: list[Path]) -> dict[str, bytes]:
        """The output files of the tasks that succeed."""
        out = self.folder / "native"
        out.mkdir()
        for file in files:
            subprocess.run([native(TASK), "count", file, out / f"{file.stem}.out"], capture_output=True, check=False)
        return self.outputs_of(out)


class OnSeveralPeers(SweepTest):
    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=PEERS, slots=SLOTS)
        self.home = self.grid.peers[0]

    def test_a_sweep_over_files_survives_bad_files_and_a_dead_peer(self):
        files = self.make_files(self.folder, FILES)
        expected = self.natively(files)
        self.assertEqual(len(expected), FILES - BAD)
        words = ("run", mobile(TASK), "--keep-order", "--each-file", "in/*.txt", "--output", "out/{/.}.out", "--", "slow", "{}",
                 "out/{/.}.out")
        process = subprocess.Popen(self.home.command(*words), cwd=self.folder, env=environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        out = self.folder / "out"
        wait_until("some outputs are here", lambda: out.is_dir() and len(list(out.glob("*.out"))) >= 5, self.grid.logs)
        self.grid.peers[1].kill()
        printed, errors = process.communicate(timeout=WAITING)
        self.assertEqual(process.returncode, BAD_CODE, errors.decode())
        self.assertEqual(self.outputs_of(out), expected)
        job = self.home.get("/v1/jobs")["jobs"][0]["id"]
        shown = self.home.job(job)
        self.assertEqual((shown["ended"], shown["failed"]), (FILES - BAD, BAD), shown)
        self.check_failed_tasks(job)
        # The same bytes as alone on one machine.
        here = self.folder / "alone"
        here.mkdir()
        (here / "in").symlink_to(self.folder / "in")
        done = self.alone(*words[:-4], "--", "count", *words[-2:], folder=here)
        self.assertEqual(done.returncode, BAD_CODE, done.stderr.decode())
        self.assertEqual(self.outputs_of(here / "out"), expected)
        self.assert_output(done.stdout, printed, "alone")

    def check_failed_tasks(self, job: str) -> None:
        """The failed tasks are listed, and one command runs just them again, with their files."""
        bad = [number for number in range(FILES) if is_bad(number)]
        self.assertEqual(len(bad), BAD)
        listed = json.loads(run(self.home.command("task", "list", job, "--filter", "failed", "-o", "json"), check=True).out)
        self.assertEqual([row["task"] for row in listed["tasks"]], bad)
        self.assertEqual({row["exit_code"] for row in listed["tasks"]}, {BAD_CODE})
        done = run(self.home.command("job", "rerun", job, "--filter", "failed", "--keep-order"), timeout=WAITING)
        self.assertEqual(done.code, BAD_CODE, done)
        self.assertEqual(done.out.decode().splitlines(), [f"in/{number:04}.txt has {len(content_of(number))} bytes" for number in bad])
        # A task that runs again and succeeds leaves its file: that of the first try, byte by byte.
        good = next(number for number in range(FILES) if not is_bad(number))
        again = run(self.home.command("job", "rerun", job, "--task", good, "--detach"), check=True).out.decode().strip()
        wait_until("the task has run again", lambda: self.home.job(again)["state"] != "running", self.grid.logs)
        fetched = self.folder / "again"
        run(self.home.command("job", "files", again, "--into", fetched), check=True)
        name = f"out/{good:04}.out"
        self.assertEqual(self.outputs_of(fetched), {name: (self.folder / name).read_bytes()})

    def test_a_detached_sweep_keeps_its_files_for_later(self):
        self.make_files(self.folder, 20)
        words = self.home.command("run", mobile(TASK), "--detach", "-o", "quiet", "--each-file", "in/*.txt", "--stdin", "{}", "--output",
                                  "deep/{/}/result", "--", "stdin", "deep/{/}/result")
        job = run(words, check=True, folder=self.folder).out.decode().strip()
        wait_until("the job is over", lambda: self.home.job(job)["state"] != "running", self.grid.logs)
        fetched = self.folder / "fetched"
        self.assertEqual(self.home.ask("job", "files", job, "--into", fetched).code, 0)
        good = [number for number in range(20) if content_of(number).startswith(b"good")]
        self.assertEqual(sorted(self.outputs_of(fetched)), [f"deep/{number:04}.txt/result" for number in good])

    def test_a_file_is_the_standard_input_of_all_tasks_or_of_a_job_left_alone(self):
        content = b"line\n" * 300_000  # more than one piece
        (self.folder / "lines").write_bytes(content)
        line = f"standard input has {min(len(content), 1 << 20)} bytes\n"  # as much as the program reads
        for array in (("--tasks", 3), ("--tasks", 3, "--promote-after", "0s"), ("--workers", 1)):
            words = self.home.command("run", mobile(TASK), "--detach", "-o", "quiet", *array, "--stdin", "lines", "--", "stdin", "result")
            job = run(words, check=True, folder=self.folder).out.decode().strip()
            wait_until("the job is over", lambda: self.home.job(job)["state"] != "running", self.grid.logs)
            shown = self.home.job(job)
            self.assertEqual(shown["state"], "done", f"{array}: {shown}\n{self.grid.logs()}")
            self.assertEqual(self.home.ask("job", "logs", job).out.decode(), line * (1 if "--workers" in array else 3))

    def test_outputs_larger_than_a_result_make_the_task_a_thread(self):
        words = self.home.command("run", mobile(TASK), "--tasks", "1-3", "--output", "large-{}", "--", "large", "large-{}", "{}")
        run(words, check=True, folder=self.folder)
        for mib in (1, 2, 3):
            expected = b"".join(bytes((at * 31 + i) & 255 for at in range(256)) * 4096 for i in range(mib))
            self.assert_output((self.folder / f"large-{mib}").read_bytes(), expected, f"{mib} MiB")

    def test_a_job_follows_others_or_fails_with_them(self):
        submit = lambda *words: run(self.home.command("run", mobile(TASK), "--detach", "-o", "quiet", *words), check=True,
                                    folder=self.folder).out.decode().strip()
        over = lambda job: self.home.job(job)["state"] != "running"
        (self.folder / "bad").write_bytes(b"bad")
        first = submit("--tasks", 2, "--", "slow", "/nowhere", "x")
        follower = submit("--workers", 1, "--after", first, "--", "echo", "never")
        good = submit("--tasks", 2, "--", "echo", "a")
        second = submit("--workers", 1, "--after", f"{good[:12]}", "--", "echo", "b")
        wait_until("all are over", lambda: all(over(job) for job in (first, follower, good, second)), self.grid.logs)
        self.assertEqual(self.home.job(second)["state"], "done")
        failed = self.home.job(follower)
        self.assertEqual(failed["state"], "failed", failed)
        self.assertIn(first[:8], json.dumps(failed), "the sentence names the job")
        self.assertEqual(self.home.ask("job", "logs", follower).out, b"")


class Alone(SweepTest):
    """Without a daemon: every source of tasks and every placeholder."""

    def lines(self, command, program, *words, stdin=b"") -> list[str]:
        done = self.alone(command, program, "--keep-order", *words, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode().splitlines()

    def test_numbers_lines_and_json(self):
        program = mobile(TASK)
        self.assertEqual(self.lines("run", program, "--tasks", "1-9:4%2", "--", "echo", "{#}:{}"), ["0:1", "1:5", "2:9"])
        self.assertEqual(self.lines("run", program, "--each-line", "-", "--", "echo", "<{}>", stdin=b"a b\nc\n"), ["<a b>", "<c>"])
        items = self.folder / "items.json"
        items.write_text('[{"rate": 0.5, "name": "x/y.z"}, {"rate": 2, "name": "k"}]')
        self.assertEqual(self.lines("run", program, "--from-json", items, "--env", "RATE={rate}", "--", "echo", "{rate}", "{name/.}", "{{}}"),
                         ["0.5 y {}", "2 k {}"])

    def test_map_is_like_gnu_parallel(self):
        program = mobile(TASK)
        self.assertEqual(self.lines("map", program, "--", "echo", ":::", "b", "a"), ["b", "a"])
        self.assertEqual(self.lines("map", program, "--", "echo", "{2}-{1}", ":::", "x", "y", ":::", "1", "2"), ["1-x", "2-x", "1-y", "2-y"])
        self.make_files(self.folder, 3)
        done = self.alone("map", program, "--keep-order", "--output", "{/.}.out", "--", "count", "{}", "{/.}.out", ":::", "in/0001.txt", "in/0002.txt")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(done.stdout.decode().splitlines(), [f"in/{name} has {len(content_of(number))} bytes"
                                                              for number, name in ((1, "0001.txt"), (2, "0002.txt"))])
        self.assertTrue((self.folder / "0002.out").is_file())

    def test_tasks_do_not_see_each_others_files(self):
        self.make_files(self.folder, 3)
        program = mobile(TASK)
        self.assertEqual(self.lines("run", program, "--tasks", 8, "--workers", 1, "--", "scratch"), ["2 names"] * 8)
        # Task 0 has only its own input.
        done = self.alone("run", program, "--each-file", "in/*.txt", "--output", "o{#}", "--", "count", "in/0002.txt", "o{#}")
        self.assertEqual(done.stdout.decode().splitlines(), [f"in/0002.txt has {len(content_of(2))} bytes"])
        self.assertEqual(sorted(path.name for path in self.folder.glob("o*")), ["o2"])

    def test_an_input_may_be_a_pattern_also_of_each_task(self):
        self.make_files(self.folder, 13)
        words = ("--tasks", "0-1", "--input", "in/00{}?.txt:/mine", "--input", "in/00*0.txt", "--output", "o{}", "--", "count")
        done = self.alone("run", mobile(TASK), "--keep-order", *words, "mine/00{}2.txt", "o{}")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        sizes = [len(content_of(number)) for number in (2, 12)]
        self.assertEqual(done.stdout.decode().splitlines(), [f"mine/00{task}2.txt has {size} bytes" for task, size in enumerate(sizes)])
        done = self.alone("run", mobile(TASK), *words, "in/0010.txt", "o{}")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(self.alone("run", mobile(TASK), *words, "mine/0002.txt", "o{}").returncode, 1, "task 1 does not see it")

    def test_what_is_wrong_is_said_in_one_sentence(self):
        program = mobile(TASK)
        self.make_files(self.folder, 2)
        for words, sentence in (
            (("--tasks", 3, "--", "echo", "{x}"), "'{x}' is no placeholder"),
            (("--tasks", 3, "--output", "same", "--", "echo"), "tasks 0 and 1 would both write same"),
            (("--tasks", "3-1"), "write M, A-B"),
            (("--tasks", 2, "--each-file", "in/*"), "give one of them"),
            (("--each-file", "in/*.gif"), "no file matches"),
            (("--each-line", "/nowhere"), "cannot read /nowhere"),
        ):
            done = self.alone("run", program, *words)
            self.assertEqual(done.returncode, EXIT_BAD_INPUT, done)
            self.assertIn(sentence, done.stderr.decode())


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main()
