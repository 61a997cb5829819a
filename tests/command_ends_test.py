"""How commands end when the daemon does not answer, the reader has left, a limit is reached; and what forked threads print line by line."""

import concurrent.futures
import re
import signal
import subprocess
import unittest

from support.harness import SCRATCH, EndToEnd, godwit, mobile
from support.local_daemon import ANSWER_SECONDS, LocalDaemon
from support.programs import SOURCE_ROOT

EXIT_LIMIT = 5


class CommandEnds(EndToEnd):
    def test_a_daemon_that_does_not_answer_is_one_sentence(self):
        daemon = LocalDaemon(self)
        daemon.process.send_signal(signal.SIGSTOP)
        commands = (("job", "list"), ("status",), ("peer", "list"))
        with concurrent.futures.ThreadPoolExecutor(len(commands)) as threads:
            for words, done in [(words, threads.submit(daemon.ask, *words)) for words in commands]:
                with self.subTest(words=words):
                    self.assertNotEqual(done.result().returncode, 0)
                    self.assertRegex(done.result().stderr, r"^godwit: .*(answer|respond).*\n")

    def test_a_reader_that_leaves_ends_a_run_quietly(self):
        """`godwit run | head -1`: the exit is that of a program whose reader has left, and no stack of errors."""
        module = mobile(SOURCE_ROOT / "tests/guests/array_task.c")
        for options in ((), ("--workers", "2", "--tasks", "4")):
            with self.subTest(options=options):
                daemon = LocalDaemon(self)
                words = daemon.command("run", module, *options, "--", 2_000_000, 100_000)
                process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                           env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "XDG_CACHE_HOME": str(SCRATCH / "cache")})
                self.assertIn(b"line 0", process.stdout.readline())
                process.stdout.close()
                try:
                    code = process.wait(ANSWER_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    self.fail(f"{words}: it does not notice that nobody reads any more")
                finally:
                    errors = process.stderr.read().decode()
                    process.stderr.close()
                self.assertTrue(code in (141, -signal.SIGPIPE) or re.search(r"(closed|reader|pipe)", errors), f"exit {code}: {errors}")

    def test_a_limit_reached_on_the_grid_has_its_own_exit_code(self):
        daemon = LocalDaemon(self)
        words = ("run", mobile(SOURCE_ROOT / "tests/guests/memory_bomb.c"), "--memory", "16MiB")
        for options in ((), ("--workers", "1")):
            with self.subTest(options=options):
                done = daemon.ask(*words, *options)
                self.assertEqual(done.returncode, EXIT_LIMIT, f"{done.stdout[-300:]}{done.stderr[-1000:]}")
        shown = daemon.ask("job", "list", "-o", "json").stdout
        self.assertRegex(shown, r'"failed":\s*1', shown)

    def test_lines_of_forked_threads_are_whole(self):
        module = mobile(SOURCE_ROOT / "tests/guests/split_lines.c")
        expected = sorted(f"thread {thread} line {line}" for thread in range(4) for line in range(100))
        self.assertEqual(sorted(godwit("run", module, "--", 3, check=True).out.decode().splitlines()), expected)
        daemon = LocalDaemon(self)
        self.assertEqual(sorted(daemon.ask("run", module, "--workers", "2", "--", "3").stdout.splitlines()), expected)


if __name__ == "__main__":
    unittest.main()
