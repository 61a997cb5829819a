"""sdk/python over a daemon of this machine."""

import asyncio
import sys
import unittest

from support.harness import GODWIT, EndToEnd
from support.local_daemon import LocalDaemon
from support.programs import SOURCE_ROOT

sys.path.insert(0, str(SOURCE_ROOT / "sdk/python"))
from godwit import GodwitError, Grid, TaskError  # noqa: E402

SQUARE = SOURCE_ROOT / "tests/guests/square_of.c"
UNLUCKY = 13


class PythonSdkTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.grid = Grid(LocalDaemon(self).socket, GODWIT)

    def test_a_program_is_mapped_over_a_thousand_inputs(self):
        inputs = [number for number in range(1000) if number != UNLUCKY]
        self.assertEqual(list(self.grid.map(SQUARE, inputs)), [str(number * number) for number in inputs])

    def test_a_task_that_fails_says_why(self):
        job = self.grid.submit(SQUARE, range(20))
        results = job.wait()
        self.assertEqual([result.index for result in results if not result.ok], [UNLUCKY])
        failed = results[UNLUCKY]
        self.assertEqual((failed.exit_code, failed.errors, failed.why), (3, b"unlucky\n", "it exited with code 3"))
        self.assertEqual(job.status()["state"], "failed")
        with self.assertRaisesRegex(TaskError, "input 13 failed: it exited with code 3\nunlucky"):
            list(self.grid.map(SQUARE, [12, UNLUCKY]))

    def test_values_of_objects_are_arguments(self):
        results = self.grid.submit(SQUARE, [{"side": 3}, {"side": 4}], args=["{side}"]).wait()
        self.assertEqual([result.text for result in results], ["9", "16"])

    def test_an_executor_and_asyncio_give_the_same(self):
        with self.grid.executor(SQUARE) as executor:
            futures = [executor.submit(number) for number in (2, UNLUCKY, 4)]
            self.assertEqual((futures[0].result(), futures[2].result()), ("4", "16"))
            self.assertIsInstance(futures[1].exception(), TaskError)

        async def gather():
            return sorted([result.text async for result in self.grid.amap(SQUARE, [5, 6])])

        self.assertEqual(asyncio.run(gather()), ["25", "36"])

    def test_what_cannot_be_done_is_an_error_with_a_sentence(self):
        with self.assertRaisesRegex(GodwitError, "cannot open"):
            self.grid.submit("/nowhere/program.c", [1])
        with self.assertRaisesRegex(GodwitError, "there are no inputs"):
            self.grid.submit(SQUARE, [])
        with self.assertRaisesRegex(GodwitError, "no daemon answers at /nowhere"):
            Grid("/nowhere/socket", GODWIT).job("ab" * 32, [1]).status()


if __name__ == "__main__":
    unittest.main()
