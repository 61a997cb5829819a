"""The programming model: threads that write to each other and calls on other peers, alone, on four peers, and while they are killed."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.grid import Grid, wait_until
from support.harness import EndToEnd, godwit, mobile, run
from support.programs import SOURCE_ROOT

EXAMPLES, GUESTS, DOCS = (SOURCE_ROOT / folder for folder in ("examples", "tests/guests/model", "docs"))
COMPILE = ["clang++-19", "--target=wasm32-wasi", "-std=c++20", "-fsyntax-only", "-Wall", "-Werror", "-I", SOURCE_ROOT / "sdk/guest/include"]
TEXTS = [DOCS / name for name in ("security.md", "overlay.md", "protocol.md")]
STEPS = 60


def alone(source: Path, *args, options=()) -> bytes:
    return godwit("run", mobile(source), *options, "--", *args, check=True).out


class ProgramsTest(EndToEnd):
    """Without a daemon."""

    def test_messages_go_there_and_back(self):
        self.assertEqual(alone(GUESTS / "ping.cpp", 300), b"89700, exit 0\n")

    def test_all_kinds_of_values_travel(self):
        self.assertEqual(alone(GUESTS / "values.cpp"), b"all values came as they were\n")

    def test_a_result_does_not_depend_on_the_number_of_threads(self):
        one = alone(EXAMPLES / "heat.cpp", 1, STEPS)
        self.assertRegex(one, rb"^after 60 steps: \d+\.\d{6} next to the hot edge, \d+\.\d{6} in all\n$")
        self.assertEqual(alone(EXAMPLES / "heat.cpp", 4, STEPS), one)

    def test_calls_give_results_errors_and_survive_their_workers(self):
        self.assertEqual(alone(GUESTS / "calls.cpp").decode().splitlines(), [
            "1000 squares: 332833500",
            "error: it is odd",
            "a call that traps: failed",
            "calls beside it: 20 of 20",
            "a call that was cancelled: the call was cancelled",
            "from a worker's own computer: 42",
        ])

    def test_pi(self):
        self.assertRegex(alone(EXAMPLES / "pi_async.cpp"), rb"^pi is about 3\.14\d\d\n$")

    def test_words_are_counted(self):
        words = re.findall(r"\S+", " ".join(text.read_text() for text in TEXTS))
        counts: dict[str, int] = {}
        for word in (re.sub("[^a-z]", "", word.lower()) for word in words):
            if word:
                counts[word] = counts.get(word, 0) + 1
        expected = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:5]
        options = [word for text in TEXTS for word in ("--input", f"{text}:{text.name}")]
        got = alone(EXAMPLES / "word_count.cpp", *(text.name for text in TEXTS), options=options)
        self.assertEqual(got.decode(), "".join(f"{count:6} {word}\n" for word, count in expected))


class DocumentTest(EndToEnd):
    def test_every_snippet_compiles(self):
        snippets = re.findall(r"```cpp\n(.*?)```", (DOCS / "programming.md").read_text(), re.S)
        self.assertGreater(len(snippets), 4)
        with tempfile.TemporaryDirectory() as folder:
            for number, snippet in enumerate(snippets):
                source = Path(folder) / f"snippet{number}.cpp"
                source.write_text(snippet)
                run([*COMPILE, source], check=True)

    def test_what_cannot_travel_is_an_error_that_says_so(self):
        refused = {
            "const int* f(const int* p) { return p; } int main() { godwit::computer c; int x = 0; c.async(f, &x).get(); }": "cannot travel",
            "int main() { godwit::send(1, 0, std::string_view(\"text\")); }": "cannot travel",
            "int main() { int x = 0; godwit::computer c; c.async([x] { return x; }).get(); }": "captures something",
            "struct S { S(int); std::string s; }; int main() { godwit::send(1, 0, S(1)); }": "Write a function for it",
        }
        with tempfile.TemporaryDirectory() as folder:
            for program, text in refused.items():
                source = Path(folder) / "refused.cpp"
                source.write_text("#include <godwit/godwit.hpp>\n" + program)
                done = subprocess.run([str(word) for word in [*COMPILE, source]], capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0, program)
                self.assertIn(text, done.stderr)


class GridTest(EndToEnd):
    """Four peers with a slot each, of which some are killed."""

    def setUp(self):
        super().setUp()
        self.grid = Grid(self, peers=4, slots=1)
        self.home = self.grid.peers[0]

    def submit(self, source: Path, *args) -> str:
        options = ("--detach", "-o", "quiet", "--workers", 4, "--checkpoint-every", "300ms")
        return run(self.home.command("run", mobile(source), *options, "--", *args), check=True).out.decode().strip()

    def finish(self, job: str) -> bytes:
        explain = lambda: f"{self.home.job(job)}\n{self.grid.logs()}"
        wait_until("the job is over", lambda: self.home.job(job)["state"] not in ("running", "waiting"), explain)
        self.assertEqual(self.home.job(job)["state"], "done", explain())
        return self.home.ask("job", "logs", job).out

    def wait_running(self, job: str, threads: int) -> None:
        wait_until(f"{threads} threads run", lambda: self.home.job(job)["running"] >= threads, lambda: f"{self.home.job(job)}\n{self.grid.logs()}")

    def test_neighbours_go_on_when_a_peer_and_home_are_killed(self):
        expected = alone(EXAMPLES / "heat.cpp", 4, 4 * STEPS)
        job = self.submit(EXAMPLES / "heat.cpp", 4, 4 * STEPS)
        self.wait_running(job, 4)
        victim = next(peer for peer in self.grid.peers[1:] if peer.workers())
        victim.kill()
        victim.start()
        self.home.kill()
        self.home.start()
        self.assertEqual(self.finish(job), expected)

    def test_calls_go_on_when_peers_are_killed(self):
        job = self.submit(GUESTS / "slow_calls.cpp", 40)
        self.wait_running(job, 3)
        for victim in self.grid.peers[1:3]:
            victim.kill()
            victim.start()
        self.assertEqual(self.finish(job), b"40 calls, 820 in all\n")


if __name__ == "__main__":
    unittest.main()
