"""The command line, the exit code, and the files of a run."""
import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools.bench import command
from tools.failure import Failure


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        for name in ("build", "kafka"):
            patched = mock.patch.object(command.Bench, name, return_value=contextlib.nullcontext())
            setattr(self, name + "_called", patched.start())
            self.addCleanup(patched.stop)

    def run_command(self, *arguments, cases=None):
        """Exit code, output, errors. `cases` is called instead of the cases."""
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), \
                mock.patch.object(command.cases, "run", cases or mock.Mock()), \
                mock.patch.object(command.cases, "run_without_kafka"):
            try:
                code = command.main(["--build", str(self.build), *arguments])
            except SystemExit as end:
                code = end.code
        return code, output.getvalue(), errors.getvalue()

    @staticmethod
    def verdict(passed):
        def case(bench, _):
            bench.row("noop", "5/s", ">= 4/s", passed, [{"cpu_us": 1.25, "peak_mib": 10.0}], 1.25)
        return case

    def test_the_exit_code_shows_whether_all_targets_were_met(self):
        for passed, code in ((True, 0), (None, 0), (False, 1)):
            self.assertEqual(code, self.run_command("noop", cases=self.verdict(passed))[0])

    def test_every_measurement_is_written_down(self):
        _, output, _ = self.run_command("noop", cases=self.verdict(True))
        self.assertEqual("\ncase  figure  ratio  CPU us  peak MiB  target\n"
                         "noop  5/s     1.250  1.250   10        >= 4/s  pass\n", output)
        written = json.loads((self.build / "bench.json").read_text())
        self.assertEqual([], written["runs"])
        self.assertEqual("noop", written["rows"][0]["case"])

    def test_a_failure_ends_the_run_with_the_rows_so_far(self):
        def fails(bench, _):
            self.verdict(True)(bench, _)
            raise Failure("wrk is not installed")
        code, output, errors = self.run_command("http", cases=fails)
        self.assertEqual((69, "scripts/bench: wrk is not installed\n"), (code, errors))
        self.assertIn("5/s", output)

    def test_all_cases_are_run_without_a_name(self):
        cases = mock.Mock()
        self.run_command(cases=cases)
        cases.assert_called_once_with(mock.ANY, command.CASES)

    def test_the_pool_alone_takes_no_kafka(self):
        self.run_command("pool")
        self.kafka_called.assert_not_called()

    def test_both_clients_have_their_own_rows_and_share_a_kafka(self):
        _, output, _ = self.run_command("--client", "both", "noop", cases=self.verdict(True))
        self.assertIn("noop (bundled)", output)
        self.assertIn("noop (system)", output)
        self.kafka_called.assert_called_once()

    def test_unknown_arguments_are_misuse(self):
        for arguments in (["nop"], ["before"], ["--repeat", "0"], ["--records", "499999"], ["--client", "own"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(2, self.run_command(*arguments)[0])
        self.assertEqual(0, self.run_command("--before", str(self.build), "before")[0])
