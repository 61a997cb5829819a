"""Graphs: jobs whose tasks follow each other and leave files for each other, on several peers and alone."""

import json
import subprocess
import unittest
from pathlib import Path

from support.grid import Grid, wait_until
from support.harness import EXIT_BAD_INPUT, GODWIT, SCALE, EndToEnd, environment, mobile, native, run
from support.programs import SOURCE_ROOT

TASK = SOURCE_ROOT / "tests/guests/graph_work.c"
PARTS, LARGE_MIB = (6, 3) if SCALE == 1 else (40, 40)
PEERS, SLOTS = 3, 2
FAILED = 3
WAITING = 600  # seconds

DIAMOND = f"""
[[task]]
name = "report"
args = ["join", "report.txt", "style.css", "copy", {", ".join(f'"left-{i}.txt"' for i in range(PARTS))}]
inputs = ["style.css", "left-*.txt", "right.bin:copy"]
outputs = ["report.txt"]

[[task]]
name = "split"
args = ["split", "parts", "{PARTS}"]
outputs = ["parts"]

[[task]]
name = "left"
tasks = {PARTS}
args = ["join", "left-{{#}}.txt", "parts/part-{{#}}"]
inputs = ["parts/part-{{#}}"]
outputs = ["left-{{#}}.txt"]

[[task]]
name = "right"
args = ["large", "out", "{LARGE_MIB}"]
stdin = "parts/part-2"
outputs = ["right.bin:out"]
"""

BRANCHES = """
[[task]]
name = "first"
args = ["join", "first.txt"]
outputs = ["first.txt"]

[[task]]
name = "bad"
args = ["fail"]
inputs = ["first.txt"]
outputs = ["never.txt"]

[[task]]
name = "behind"
args = ["join", "behind.txt", "never.txt"]
inputs = ["never.txt"]
outputs = ["behind.txt"]

[[task]]
name = "good"
args = ["join", "good.txt", "first.txt"]
inputs = ["first.txt"]
outputs = ["good.txt"]
"""


class GraphTest(EndToEnd):
    def write(self, text: str, folder: Path | None = None) -> Path:
        file = (folder or self.folder) / "flow.toml"
        file.write_text(text)
        (file.parent / "style.css").write_text("body {}\n")
        return file

    @staticmethod
    def outputs_of(folder: Path) -> dict[str, bytes]:
        """The files in a folder but for what the test has put there."""
        ours = {"flow.toml", "style.css"}
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.name not in ours}

    def natively(self) -> dict[str, bytes]:
        """What the diamond leaves, its tasks run one after the other here."""
        out = self.folder / "native"
        out.mkdir()
        self.write("", out)

        def task(*words, stdin=b""):
            subprocess.run([native(TASK), *map(str, words)], cwd=out, input=stdin, capture_output=True, check=True)

        task("split", "parts", PARTS)
        for i in range(PARTS):
            task("join", f"left-{i}.txt", f"parts/part-{i}")
        task("large", "copy", LARGE_MIB, stdin=(out / "parts/part-2").read_bytes())
        task("join", "report.txt", "style.css", "copy", *(f"left-{i}.txt" for i in range(PARTS)))
        (out / "copy").rename(out / "right.bin")
        return self.outputs_of(out)


class OnSeveralPeers(GraphTest):
    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=PEERS, slots=SLOTS)
        self.home = self.grid.peers[0]
        self.place = self.folder / "place"
        self.place.mkdir()

    def test_a_diamond_survives_a_dead_peer_and_leaves_what_it_leaves_alone(self):
        expected = self.natively()
        self.write(DIAMOND, self.place)
        process = subprocess.Popen(self.home.command("run", mobile(TASK), "--graph", "flow.toml"), cwd=self.place, env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        wait_until("a task of the second stage has ended", lambda: list(self.place.glob("left-*.txt")), self.grid.logs)
        self.grid.peers[1].kill()
        _, errors = process.communicate(timeout=WAITING)
        self.assertEqual(process.returncode, 0, errors.decode() + self.grid.logs())
        self.assertEqual(self.outputs_of(self.place), expected)
        job = self.home.get("/v1/jobs")["jobs"][0]["id"]
        self.check_rerun(job, expected)
        # The same bytes as alone on one machine, where a daemon is started for the command.
        here = self.folder / "alone"
        here.mkdir()
        self.write(DIAMOND, here)
        runtime = self.folder / "runtime"
        runtime.mkdir()
        done = subprocess.run([GODWIT, "run", mobile(TASK), "--graph", "flow.toml"], cwd=here, capture_output=True, check=False,
                              timeout=WAITING, env=dict(environment(), XDG_RUNTIME_DIR=str(runtime)))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(self.outputs_of(here), expected)

    def check_rerun(self, job: str, expected: dict[str, bytes]) -> None:
        """One task runs again with the stored files of those before it, which do not run again."""
        listed = json.loads(run(self.home.command("task", "list", job, "-o", "json"), check=True).out)["tasks"]
        numbers = {task["name"]: task["task"] for task in listed}
        self.assertEqual(listed[0]["name"], "split")
        self.assertIn("left[0]", numbers)
        again = run(self.home.command("job", "rerun", job, "--task", numbers["report"], "--detach"), check=True).out.decode().strip()
        wait_until("the task has run again", lambda: self.home.job(again)["state"] != "running", self.grid.logs)
        self.assertEqual(self.home.job(again)["state"], "done", self.home.ask("job", "show", again).out.decode())
        self.assertEqual(self.home.job(again)["ended"], 1)
        fetched = self.folder / "again"
        run(self.home.command("job", "files", again, "--into", fetched), check=True)
        self.assertEqual(self.outputs_of(fetched), {"report.txt": expected["report.txt"]})

    def test_what_is_behind_a_failed_task_is_skipped_listed_and_run_again_with_it(self):
        self.write(BRANCHES, self.place)
        done = run(self.home.command("run", mobile(TASK), "--graph", "flow.toml"), folder=self.place, timeout=WAITING)
        self.assertEqual(done.code, FAILED, done)
        self.assertIn("skipped because task bad failed", done.err)
        self.assertEqual(sorted(self.outputs_of(self.place)), ["first.txt", "good.txt"])
        job = self.home.get("/v1/jobs")["jobs"][0]["id"]
        shown = self.home.job(job)
        self.assertEqual((shown["state"], shown["ended"], shown["failed"], shown["skipped"]), ("failed", 2, 1, 1), shown)
        listed = json.loads(run(self.home.command("task", "list", job, "--filter", "skipped", "-o", "json"), check=True).out)
        self.assertEqual([(task["name"], task["state"], task["sentence"]) for task in listed["tasks"]],
                         [("behind", "skipped", "skipped because task bad failed")])
        number = listed["tasks"][0]["task"]
        self.assertIn("skipped because task bad failed", self.home.ask("task", "explain", job, number).out.decode())
        again = run(self.home.command("job", "rerun", job, "--filter", "failed"), timeout=WAITING)
        self.assertEqual(again.code, FAILED, again)
        second = next(one for one in self.home.get("/v1/jobs")["jobs"] if one["id"] != job)
        self.assertEqual((second["tasks"], second["failed"], second["skipped"]), (2, 1, 1), second)

    def test_the_example_draws_what_its_tasks_draw_natively(self):
        example = SOURCE_ROOT / "examples/strips.c"
        flow = SOURCE_ROOT / "examples/strips.toml"
        run(self.home.command("run", mobile(example), "--graph", flow), check=True, folder=self.place, timeout=WAITING)
        out = self.folder / "native"
        out.mkdir()
        for strip in range(6):
            subprocess.run([native(example), "draw", str(strip), "6", f"strip-{strip}.raw"], cwd=out, check=True)
        subprocess.run([native(example), "join", "strips.pgm", *(f"strip-{i}.raw" for i in range(6))], cwd=out, check=True)
        self.assertEqual(self.outputs_of(self.place), self.outputs_of(out))

    def test_a_task_that_waits_for_others_says_so(self):
        self.write(DIAMOND, self.place)
        words = self.home.command("run", mobile(TASK), "--graph", "flow.toml", "--need", "tag=nowhere", "--detach", "-o", "quiet")
        job = run(words, check=True, folder=self.place).out.decode().strip()
        explained = json.loads(run(self.home.command("task", "explain", job, 1, "-o", "json"), check=True).out)
        self.assertEqual((explained["name"], explained["reason"], explained["detail"]), ("left[0]", "tasks_before", "it waits for split"))
        self.assertEqual(self.home.ask("job", "cancel", job).code, 0)

    def test_a_bad_file_is_refused_with_the_line_before_anything_is_built(self):
        self.write('[[task]]\nname = "a"\nafter = ["b"]\n[[task]]\nname = "b"\nafter = ["a"]\n', self.place)
        done = run(self.home.command("run", "no-such-program.c", "--graph", "flow.toml"), folder=self.place)
        self.assertEqual(done.code, EXIT_BAD_INPUT, done)
        self.assertIn("flow.toml, line 1: the tasks follow each other in a circle: 'a' after 'b' after 'a'", done.err)


if __name__ == "__main__":
    unittest.main()
