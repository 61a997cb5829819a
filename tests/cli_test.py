"""The command line as people and scripts meet it: exit codes, streams, signals, settings, formats, completions, pages, bad input."""

import json
import os
import pty
import select
import signal
import subprocess
import unittest
from pathlib import Path

from support.harness import GODWIT, SCRATCH, TIMEOUT_SECONDS, EndToEnd, Finished, mobile
from support.programs import SOURCE_ROOT
from support.schemas import validate

PROBE = SOURCE_ROOT / "tests/guests/cli_probe.c"
PLACES = ((), ("--workers", "1"))  # in the command itself, and on a peer
FAILED, USAGE, LIMIT, SUSPENDED, INTERRUPTED = 1, 2, 5, 75, 130


class CommandLine(EndToEnd):
    def setUp(self):
        super().setUp()
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("GODWIT_") and name != "NO_COLOR"}
        self.env.update(XDG_CACHE_HOME=str(SCRATCH / "cache"), XDG_CONFIG_HOME=str(self.folder / "config"), TERM="xterm")

    def call(self, *words, stdin=b"", env=None) -> Finished:
        command = [str(word) for word in (GODWIT, *words)]
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=TIMEOUT_SECONDS, cwd=self.folder, env={**self.env, **(env or {})},
                              check=False)
        return Finished(command, done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def json(self, *words, **options) -> dict:
        return validate(json.loads(self.call(*words, "-o", "json", **options).out))

    def probe(self, *words, options=(), **call) -> Finished:
        return self.call("run", mobile(PROBE), *options, "--", *words, **call)

    def start(self, *words, stdin=subprocess.DEVNULL) -> subprocess.Popen:
        """The probe, running: it has printed its first line."""
        command = [str(word) for word in (GODWIT, *words)]
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                   env=self.env, start_new_session=True, bufsize=0)  # communicate() does not see what readline() buffered
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        process.stdout.readline()
        return process

    def assert_one_sentence(self, done: Finished, code: int, expected: str = ""):
        self.assertEqual(done.code, code, done)
        self.assertEqual(done.out, b"", done)
        self.assertEqual(done.err.strip().count("\n"), 0, done)
        self.assertTrue(done.err.startswith("godwit: "), done)
        self.assertIn(expected, done.err)

    def assert_crash(self, done: Finished, code: int, expected: str):
        """One sentence and a backtrace, which is indented."""
        sentence, *backtrace = done.err.splitlines()
        self.assert_one_sentence(Finished(done.command, done.code, done.out, sentence), code, expected)
        self.assertTrue(backtrace and all(line.startswith("  ") for line in backtrace), done)


class Programs(CommandLine):
    def test_exit_codes_are_passed_through(self):
        for code in (0, 1, 2, 5, 75, 130, 255):
            self.assertEqual(self.probe("exit", str(code)).code, code)

    def test_streams_and_arguments_are_the_programs_own(self):
        for where in PLACES:
            self.assertEqual(self.probe("cat", options=where, stdin=b"in\0put").out, b"in\0put")
        self.assertEqual(self.probe("err").err, "to stderr\n")
        self.assertEqual(self.probe("--help", "-o", "--").out, b"--help\n-o\n--\n")

    def test_stdin_from_a_file(self):
        (self.folder / "text").write_bytes(b"from a file")
        for where in PLACES:
            self.assertEqual(self.probe("cat", options=("--stdin", "text", *where), stdin=b"not this").out, b"from a file")

    def test_input_of_many_pieces(self):
        content = os.urandom(1 << 20)
        for where in PLACES:
            done = self.probe("cat", options=where, stdin=content)
            self.assert_output(done.out, content, str(done))

    def test_environment(self):
        self.assertEqual(self.probe("env", "A", options=("--env", "A=1")).out, b"1\n")
        self.assertEqual(self.probe("env", "PASSED", options=("--env", "PASSED"), env={"PASSED": "on"}).out, b"on\n")
        self.assertEqual(self.probe("env", "HOME").out, b"(none)\n")

    def test_a_trap_and_limits_have_codes_of_their_own(self):
        self.assert_crash(self.probe("trap"), FAILED, "trapped")
        grown = self.probe("grow", options=("--memory", "16M"))  # ended at once where the watchdog sees it first, without a look at its calls
        self.assert_one_sentence(Finished(grown.command, grown.code, grown.out, grown.err.splitlines()[0]), LIMIT, "memory")
        done = self.probe("spin", options=("--time-limit", "200ms"))
        self.assertEqual(done.code, LIMIT, done)

    def test_inputs_and_outputs(self):
        (self.folder / "data").mkdir()
        (self.folder / "data/in").write_bytes(b"content\0")
        for where in PLACES:
            with self.subTest(where=where):
                done = self.probe("copy", "data/in", "/result", options=("--input", "data", "--output", "copy:/result", *where))
                self.assertEqual(done.code, 0, done)
                self.assertEqual((self.folder / "copy").read_bytes(), b"content\0")
                (self.folder / "copy").unlink()
                self.assertEqual(self.probe("copy", "/etc/passwd", "/x", options=where).code, 9)

    def test_files_of_many_pieces(self):
        content = os.urandom((3 << 20) + 5)
        (self.folder / "in").write_bytes(content)
        for where in PLACES:
            with self.subTest(where=where):
                done = self.probe("copy", "in", "out", options=("--input", "in", "--output", "out", *where))
                self.assertEqual(done.code, 0, done)
                self.assertEqual((self.folder / "out").read_bytes(), content)
                (self.folder / "out").unlink()

    def test_an_output_that_is_a_folder_is_there_for_the_program(self):
        (self.folder / "in").write_bytes(b"content")
        (self.folder / "there").mkdir()
        for where in PLACES:
            for typed, folder in (("there", "there"), ("new/", "new")):
                done = self.probe("copy", "in", f"{folder}/copy", options=("--input", "in", "--output", typed, *where))
                self.assertEqual(done.code, 0, done)
                self.assertEqual((self.folder / folder / "copy").read_bytes(), b"content")
                (self.folder / folder / "copy").unlink()

    def test_a_reader_that_goes_ends_the_program(self):
        process = self.start("run", mobile(PROBE), "--", "yes")
        process.stdout.close()
        self.assertNotEqual(process.wait(timeout=TIMEOUT_SECONDS), 0)
        self.assertEqual(process.stderr.read(), b"")

    def test_json_distinguishes_the_programs_exit_from_the_commands(self):
        lines = [validate(json.loads(line)) for line in self.probe("exit", "2", options=("-o", "json")).out.splitlines()]
        self.assertEqual((lines[-1]["event"], lines[-1]["reason"], lines[-1]["program_exit_code"]), ("end", "exited", 2))
        self.assertGreater(lines[-1]["cpu_seconds"], 0)
        wrong = self.call("run", "missing.c", "-o", "json")
        self.assertEqual((wrong.code, validate(json.loads(wrong.out))["code"]), (USAGE, "usage"))

    def test_json_output_events(self):
        for words, key, value in ((("größe",), "text", "größe\n"), (("bytes",), "base64", "//4AAQ==")):
            events = [validate(json.loads(line)) for line in self.probe(*words, options=("-o", "json")).out.splitlines()]
            self.assertEqual("".join(event[key] for event in events[:-1]), value)


class Signals(CommandLine):
    def interrupt(self, number: int, *options) -> Finished:
        """The probe waits in the middle for input that does not come, so it is there when the signal comes."""
        silence, keep_open = os.pipe()
        self.addCleanup(os.close, silence)
        self.addCleanup(os.close, keep_open)
        process = self.start("run", mobile(PROBE), *options, "--", "count", "200", "ask", stdin=silence)
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
        return Finished(process.args, process.returncode, out, err.decode())

    def test_interrupted_programs_can_be_continued(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            done = self.interrupt(number)
            self.assertEqual(done.code, INTERRUPTED, done)
            name = done.err.strip().rsplit(" ", 1)[1]
            self.assertTrue((self.folder / name).exists(), done)
            rest = self.call("resume", name)
            self.assertEqual(rest.code, 0, rest)
            self.assertEqual((b"0\n" + done.out + rest.out).split(), [b"%d" % n for n in range(200)])

    def test_images_without_a_name_replace_nothing(self):
        stem = mobile(PROBE).stem
        (self.folder / f"{stem}.gwi").write_text("mine")
        self.assertEqual(self.interrupt(signal.SIGINT).code, INTERRUPTED)
        self.assertEqual((self.folder / f"{stem}.gwi").read_text(), "mine")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), [f"{stem}-2.gwi", f"{stem}.gwi"])

    def test_a_second_interrupt_ends_at_once(self):
        process = self.start("run", mobile(PROBE), "--", "spin")
        for _ in range(3):  # the first may already have been enough for the image
            process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), INTERRUPTED)


class SettingsAndFormats(CommandLine):
    def test_precedence(self):
        def value(**options):
            return self.json("config", "get", "memory", **options)["value"]

        self.assertEqual(value(), "1GiB")
        self.assertEqual(self.call("config", "set", "memory=1M").code, 0)
        self.assertEqual(value(), "1M")
        self.assertEqual(self.call("config", "set", "memory=2M", "--scope", "project").code, 0)
        self.assertEqual(value(), "2M")
        self.assertEqual(value(env={"GODWIT_MEMORY": "3M"}), "3M")
        listed = self.json("config", "list", "--config", "memory=4M", env={"GODWIT_MEMORY": "3M"})["settings"]
        self.assertEqual(next(entry for entry in listed if entry["key"] == "memory")["origin"], "--config")

    def test_a_broken_file_is_named_and_can_be_repaired(self):
        (self.folder / "godwit.toml").write_text("memroy = '1M'\n")
        self.assert_one_sentence(self.call("version"), USAGE, "godwit.toml, line 1: there is no setting 'memroy': did you mean 'memory'?")
        self.assertEqual(self.call("config", "path").code, 0)
        self.assertEqual(self.call("--help").code, 0)

    def test_every_report_fits_its_schema(self):
        image = self.folder / "x.gwi"
        suspended = self.probe("count", "100000", options=("--suspend-after", "20ms", "--image", "x.gwi"))
        self.assertEqual(suspended.code, SUSPENDED, suspended)
        for words in (["version"], ["config", "list"], ["config", "get", "color"], ["config", "set", "color=never"], ["config", "path"],
                      ["image", "show", image], ["image", "diff", image, image], ["build", PROBE]):
            self.json(*words)
        self.assertTrue(self.json("image", "diff", image, image)["equal"])
        self.assertTrue(self.json("version")["cage"]["seccomp"], "no test of a worker could have run here")
        self.assertEqual(self.call("version", env={"GODWIT_OUTPUT": "quiet"}).out.count(b"."), 2)

    def test_colours_are_for_terminals(self):
        self.assertNotIn(b"\033", self.call("config", "list").out)
        self.assertIn(b"\033", self.call("config", "list", "--color", "always").out)
        self.assertIn(b"\033", self.on_terminal("config", "list"))
        self.assertNotIn(b"\033[", self.on_terminal("config", "list", NO_COLOR="1"))

    def on_terminal(self, *words, **env) -> bytes:
        ours, theirs = pty.openpty()
        process = subprocess.Popen([GODWIT, *words], stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.folder, env={**self.env, **env})
        os.close(theirs)
        out = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                out += os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
        os.close(ours)
        process.wait(timeout=60)
        return out


class PagesAndCompletions(CommandLine):
    def test_shells_take_the_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.call("completion", shell).out
            checked = subprocess.run([shell, "-n", "/dev/stdin"], input=script, capture_output=True, check=False)
            self.assertEqual((checked.returncode, checked.stderr), (0, b""), shell)

    def test_bash_completes(self):
        (self.folder / "script").write_bytes(self.call("completion", "bash").out)
        for words, expected in ((("godwit", "re"), "resume"), (("godwit", "run", "--mob"), "--mobile"),
                                (("godwit", "run", "--mobile", "c"), "coarse"), (("godwit", "config", "set", "--scope", "p"), "project"),
                                (("godwit", "-o", "=", "j"), "json"), (("godwit", "config", "get", "mem"), "memory")):
            line = " ".join(f"'{word}'" for word in words)
            command = f"source ./script; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _godwit; echo ${{COMPREPLY[@]}}"
            done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=self.folder, check=True, text=True)
            self.assertEqual(done.stdout.strip(), expected, words)

    def test_fish_completes(self):
        (self.folder / "script").write_bytes(self.call("completion", "fish").out)
        for line, expected in (("godwit image di", "diff"), ("godwit run --checkp", "--checkpoint-every"), ("godwit completion z", "zsh")):
            done = subprocess.run(["fish", "-c", f"source ./script; complete -C '{line}'"], capture_output=True, cwd=self.folder, check=True,
                                  text=True, env={**self.env, "HOME": str(self.folder)})
            self.assertEqual(done.stdout.split()[:1], [expected], line)

    def test_man_pages_have_no_mistakes(self):
        self.assertEqual(self.call("man", "--folder", self.folder).code, 0)
        pages = sorted(self.folder.glob("*.1"))
        self.assertGreater(len(pages), 12)
        for page in pages:
            checked = subprocess.run(["man", "--warnings", "-l", "-P", "cat", page], capture_output=True, check=False,
                                     env={**self.env, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
            self.assertEqual((checked.returncode, checked.stderr), (0, b""), page)


class BadInput(CommandLine):
    def test_every_mistake_is_one_sentence_and_leaves_nothing(self):
        module = mobile(PROBE)
        (self.folder / "text.txt").write_text("hello")
        (self.folder / "job.gwi").write_bytes(b"SQLite format 3\0" + bytes(52) + b"GDJF" + bytes(28))
        (self.folder / "bad.c").write_text("int main(void) { return 0; }")
        before = sorted(path.name for path in self.folder.iterdir())
        run = ("run", module)
        for words, expected in (
                (("run", "missing.c"), "missing.c"),
                (("run", "text.txt"), "neither a wasm module nor"),
                (("run", self.folder), ""),
                ((*run, "--input", "missing"), "--input missing: there is no such file"),
                ((*run, "--input", "../up"), "../up:GUEST"),
                ((*run, "--input", "text.txt", "--output", "text.txt"), "give one of them another :GUEST"),
                ((*run, "--output", "no/folder/out"), "does not exist"),
                ((*run, "--output", "/dev/null:/x"), "exists and is not a file or folder"),
                ((*run, "--env", "=1"), "has no name"),
                ((*run, "--env", "NOT_THERE_AT_ALL"), "this variable is not set"),
                ((*run, "--memory", "1T"), "is not a size"),
                ((*run, "--memory", "1"), "between 64KiB and 4GiB"),
                ((*run, "--time-limit", "soon"), "is not a duration"),
                ((*run, "--time-limit", "0s"), "is too short"),
                ((*run, "--wall-limit", "5"), "is not a duration"),
                ((*run, "--suspend-after", "5"), "is not a duration"),
                ((*run, "--checkpoint-every", "1ms"), "10ms"),
                ((*run, "--seed", "-1"), "not a whole number"),
                ((*run, "--stdin", "missing"), "--stdin missing"),
                ((*run, "--image", "no/folder/x.gwi", "--suspend-after", "1s"), "no/folder does not exist"),
                ((*run, "--suspend-after-polls", "5"), "--poll=counter"),
                ((*run, "--output", "out", "--tasks", "2"), "tasks 0 and 1 would both write out: put {#}"),
                ((*run, "--stdin", ".", "--workers", "1", "--detach"), "--stdin . is not a file"),
                (("build", "bad.c", "--output", "bad.c"), "would overwrite"),
                (("build", "bad.c", module), "build it alone"),
                (("build", "bad.c", "--cflag=-c"), "is not available"),
                (("resume", "missing.gwi"), "missing.gwi"),
                (("resume", "text.txt"), ""),
                (("image", "show", "text.txt"), ""),
                (("image", "show", "job.gwi"), "image output job.gwi"),
                (("image", "output", "text.txt"), "job file"),
                (("config", "get", "memroy"), "did you mean 'memory'?"),
                (("config", "set", "memory"), "key=value"),
                (("config", "set", "memory=1T"), "is not a size"),
                (("version", "--format", "yaml"), "'yaml' is not one of table, json, quiet"),
                (("version", "--config", "x=1"), "there is no setting 'x'"),
        ):
            with self.subTest(words=words):
                self.assert_one_sentence(self.call(*words), USAGE, expected)
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)


if __name__ == "__main__":
    unittest.main()
