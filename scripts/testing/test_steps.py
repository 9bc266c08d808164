"""What scripts/test counts and shows, with programs that pass, fail and print what ctest prints."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from testing.steps import Board, Failed, Steps  # noqa: E402

OUTPUT = """\
      Start  1: unit.base
 1/4 Test  #1: unit.base ...................   Passed    0.03 sec
 2/4 Test #12: embedded.service:a lane ... that waits, and more ...   Passed    0.10 sec
 3/4 Test #13: embedded.service:a record .........***Failed    0.91 sec
what the test printed
retry_test.cpp:12: FAILED:
  CHECK( attempts == 3 )
ts=2026-01-01T00:00:00.000Z msg="lane paused"
 4/4 Test  #3: kafka.kill ........................***Timeout 300.01 sec

50% tests passed, 2 tests failed out of 4
"""


class Counting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.board = Board(self.folder)
        self.steps = Steps(self.folder, self.board, {})

    def quietly(self, work, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            work(*arguments)
        return printed.getvalue()

    def ctest(self, text, code):
        """A program of that name which prints the text."""
        program = self.folder / "ctest"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\nexit {code}\n")
        program.chmod(0o755)
        self.steps.environment = {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        path = os.environ["PATH"]
        os.environ["PATH"] = self.steps.environment["PATH"]
        self.addCleanup(lambda: os.environ.update(PATH=path))
        return self.quietly(self.steps.ctest, "Release", self.folder, [])

    def test_each_test_counts_and_a_failed_test_is_shown_with_its_output(self):
        printed = self.ctest(OUTPUT, 8)
        self.assertEqual(2, self.board.passed)
        self.assertEqual(["Release: embedded.service:a record", "Release: kafka.kill"], [name for name, *_ in self.board.failed])
        self.assertIn("what the test printed", printed)
        self.assertIn("  CHECK( attempts == 3 )", self.board.failed[0][2])
        self.assertIn("Release: 4 tests ended", printed)

    def test_a_ctest_without_tests_fails(self):
        printed = self.ctest("No tests were found!!!\n", 8)
        self.assertEqual(["Release: ctest"], [name for name, *_ in self.board.failed])
        self.assertIn("No tests were found", printed)

    def test_a_check_passes_by_its_exit_code(self):
        self.quietly(self.steps.check, "formatting", ["true"])
        printed = self.quietly(self.steps.check, "rules", ["sh", "-c", "echo wrong rule; exit 3"])
        self.assertEqual(1, self.board.passed)
        self.assertEqual([("rules", self.folder / "rules.log", [])], self.board.failed)
        self.assertIn("wrong rule", printed)

    def test_without_a_build_nothing_runs(self):
        with self.assertRaisesRegex(Failed, "build failed, see .*build.log:\nno such header"):
            self.quietly(self.steps.prepare, "build", ["sh", "-c", "echo no such header; exit 1"])
        self.assertEqual("no such header\n", (self.folder / "build.log").read_text())


if __name__ == "__main__":
    unittest.main()
