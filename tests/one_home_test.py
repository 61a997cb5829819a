"""A program moves between the grid, an image and a command in both directions, with its files and its input; nothing is lost or repeated."""

import json
import signal
import unittest
from pathlib import Path

from support.grid import wait_until
from support.harness import EXIT_BAD_INPUT, EXIT_INTERRUPTED, EXIT_SUSPENDED, EndToEnd, Finished, mobile, run, run_until_it_prints
from support.local_daemon import LocalDaemon
from support.programs import SOURCE_ROOT
from support.schemas import validate

LINES = 3000


class OneHome(EndToEnd):
    def setUp(self):
        super().setUp()
        self.daemon = LocalDaemon(self)
        self.content = b"".join(b"line %d\n" % number for number in range(LINES))
        (self.folder / "lines").write_bytes(self.content)
        self.out = b""
        self.moves = 0

    def godwit(self, *words, code: int | None = None):
        done = run(self.daemon.command(*words))
        if code is not None:
            self.assertEqual(done.code, code, done)
        return done

    def next_image(self) -> Path:
        self.moves += 1
        return self.folder / f"{self.moves}.gwi"

    def go_on(self, command: str, program: Path, *options, args: tuple[str, ...] = ()) -> Path:
        """Runs until it has printed something, and suspends it to the next image with Ctrl-C."""
        image = self.next_image()
        words = self.daemon.command(command, program, *options, "--image", image, *(("--", *args) if args else ()))
        done = run_until_it_prints(words, signal.SIGINT)
        self.assertEqual(done.code, EXIT_INTERRUPTED, done)
        self.out += done.out
        self.assertTrue(image.exists(), done)
        return image

    def suspend_after(self, command: str, program: Path, *words) -> Path:
        """Runs an endless program on the grid for a time, which is longer if a busy machine did not even begin within it."""
        image = self.next_image()
        for seconds in (1, 4, 16, 64):
            done: Finished = self.godwit(command, program, "--workers", "1", "--suspend-after", f"{seconds}s", "--image", image, *words)
            self.out += done.out
            if "before it had begun" not in done.err:
                break
        self.assertEqual(done.code, EXIT_SUSPENDED, done)
        self.assertTrue(image.exists(), done)
        return image

    def suspend_detached(self, job: str) -> Path:
        """Suspends a job that nobody follows, when it has printed something, to the next image."""
        image = self.next_image()
        wait_until("the job has printed something", lambda: self.godwit("job", "logs", job, code=0).out, self.daemon.log)
        done = self.godwit("job", "suspend", job, "--image", image, "-o", "json", code=0)
        self.assertEqual(json.loads(done.out)["image"], str(image))
        self.out += self.godwit("job", "logs", job, code=0).out
        self.godwit("job", "cancel", job, code=0)
        return image

    def assert_no_job_is_left(self):
        jobs = json.loads(self.godwit("job", "list", "-o", "json", code=0).out)["jobs"]
        self.assertEqual([job["state"] for job in jobs if job["state"] not in ("done", "cancelled")], [])

    def test_grid_to_file_to_command_to_grid(self):
        module = mobile(SOURCE_ROOT / "tests/guests/slow_cat.c")
        stdin = ("--stdin", self.folder / "lines")
        (self.folder / "lines").write_bytes(b"".join(b"line %d\n" % number for number in range(60_000)))
        image = self.go_on("run", module, "--workers", "1", *stdin)
        image = self.go_on("resume", image, *stdin)
        image = self.go_on("resume", image, "--workers", "1", *stdin)
        image = self.go_on("resume", image, *stdin)
        done = self.godwit("resume", image, "--workers", "1", *stdin, code=0)
        self.out += done.out
        self.assert_output(self.out, (self.folder / "lines").read_bytes(), f"after {self.moves} moves")
        self.assert_no_job_is_left()

    def test_files_move_along(self):
        module = mobile(SOURCE_ROOT / "tests/guests/slow_copy.c")
        data, copy = self.folder / "lines", self.folder / "copy"
        files = ("--input", f"{data}:/in", "--output", f"{copy}:/out")
        image = self.go_on("run", module, "--workers", "1", *files, args=("/in", "/out"))
        image = self.go_on("resume", image, "--allow-files")
        job = self.godwit("resume", image, "--workers", "1", "--detach", *files, code=0).out.decode().strip()
        self.godwit("job", "wait", job, code=0)
        self.godwit("job", "files", job, "--into", self.folder / "fetched", code=0)
        self.assert_output((self.folder / "fetched/out").read_bytes(), data.read_bytes(), "the files of a detached job stay with the daemon")
        image = self.go_on("resume", image, "--workers", "1", *files)
        done = self.godwit("resume", image, *files, code=0)
        self.out += done.out
        self.assert_output(self.out, self.content, f"after {self.moves} moves")
        self.assert_output(copy.read_bytes(), self.content, "the copy")
        self.assert_no_job_is_left()

    def test_a_detached_job_is_exported(self):
        module = mobile(SOURCE_ROOT / "tests/guests/slow_copy.c")
        data = ("--input", f"{self.folder / 'lines'}:/in")
        job = self.godwit("run", module, "--workers", "1", "--detach", *data, "--", "/in", "/copy", code=0).out.decode().strip()
        image = self.suspend_detached(job)
        refused = self.godwit("resume", image)
        self.assertEqual(refused.code, EXIT_BAD_INPUT)
        self.assertIn("--input HOST:/in", refused.err)
        job = self.godwit("resume", image, "--workers", "1", "--detach", *data, code=0).out.decode().strip()
        image = self.suspend_detached(job)
        done = self.godwit("resume", image, *data, code=0)
        self.out += done.out
        self.assert_output(self.out, self.content, f"after {self.moves} moves")

    def test_ctrl_c_suspends_a_job_to_its_image(self):
        module = mobile(SOURCE_ROOT / "tests/guests/slow_copy.c")
        files = ("--input", f"{self.folder / 'lines'}:/in")
        image = self.go_on("run", module, "--workers", "1", *files, args=("/in", "/copy"))
        self.out += self.godwit("resume", image, "--workers", "1", "--allow-files", code=0).out
        self.assert_output(self.out, self.content, "after one move")
        self.assert_no_job_is_left()

    def test_time_suspends_a_job_to_its_image(self):
        image = self.suspend_after("run", mobile(SOURCE_ROOT / "tests/guests/cli_probe.c"), "--", "spin")
        image = self.suspend_after("resume", image)
        if not self.out:  # the machine was so busy that the program has begun and not come to its first line
            self.go_on("resume", image)
        self.assertEqual(self.out, b"spinning\n")

    def test_what_is_said_of_a_suspended_job_fits_its_schema(self):
        probe = mobile(SOURCE_ROOT / "tests/guests/cli_probe.c")
        done = self.godwit("run", probe, "--workers", "1", "--suspend-after", "1s", "-o", "json", "--", "spin", code=EXIT_SUSPENDED)
        events = [validate(json.loads(line)) for line in done.out.splitlines()]
        self.assertIn("suspended", [event["event"] for event in events])
        self.assertEqual((events[-1]["event"], events[-1]["reason"]), ("end", "suspended"))
        job = events[-1]["job"]
        shown = [validate(json.loads(self.godwit("job", *words, "-o", "json", code=0).out)) for words in (("list",), ("show", job))]
        self.assertEqual((shown[0]["jobs"][0]["state"], shown[1]["state"]), ("suspended", "suspended"))

    def test_a_job_file_moves_to_the_grid(self):
        module = mobile(SOURCE_ROOT / "tests/guests/slow_copy.c")
        data = ("--input", f"{self.folder / 'lines'}:/in")
        image = self.go_on("run", module, "--checkpoint-every", "200ms", *data, args=("/in", "/copy"))
        self.out += self.godwit("resume", image, "--workers", "1", *data, code=0).out
        self.assert_output(self.out, self.content, "after one move")

    def test_an_array_is_not_exported(self):
        module = mobile(SOURCE_ROOT / "tests/guests/slow_copy.c")
        data = ("--input", f"{self.folder / 'lines'}:/in")
        job = self.godwit("run", module, "--tasks", "2", "--detach", *data, "--", "/in", "/copy", code=0).out.decode().strip()
        refused = self.godwit("job", "suspend", job, "--image", self.folder / "array.gwi")
        self.assertNotEqual(refused.code, 0)
        self.assertIn("an image holds the main thread alone", refused.err)
        self.assertFalse((self.folder / "array.gwi").exists())
        self.godwit("job", "resume", job, code=0)
        self.godwit("job", "cancel", job, code=0)

    def test_an_image_does_not_choose_files(self):
        """What a file names that came by mail is neither read nor written unless somebody says so."""
        module = mobile(SOURCE_ROOT / "tests/guests/slow_copy.c")
        data, copy = self.folder / "lines", self.folder / "copy"
        files = ("--input", f"{data}:/in", "--output", f"{copy}:/out")
        for kept in ((), ("--checkpoint-every", "200ms")):
            with self.subTest(kept=kept):
                image = self.go_on("run", module, *kept, *files, args=("/in", "/out"))
                refused = self.godwit("resume", image)
                self.assertEqual(refused.code, EXIT_BAD_INPUT)
                for word in (str(data), str(copy), "--allow-files"):
                    self.assertIn(word, refused.err)
                other = self.folder / "other"
                other.write_bytes(b"something else\n")
                changed = self.godwit("resume", image, "--input", f"{other}:/in", "--output", f"{copy}:/out")
                self.assertIn("has changed", changed.err)
                self.assertFalse(copy.exists())


if __name__ == "__main__":
    unittest.main()
