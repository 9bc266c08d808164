"""What a stage leaves behind: nothing; how it waits; and the command line."""
import contextlib
import io
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from tools.demo import command
from tools.demo.screen import Screen
from tools.demo.stage import Stage
from tools.failure import Failure

ROOT = Path(__file__).resolve().parents[3]
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
STUBBORN = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"]


def quiet():
    return Screen(io.StringIO())


class Stages(unittest.TestCase):
    def test_processes_and_the_folder_are_gone_after_any_end(self):
        for error in (None, Failure, KeyboardInterrupt):
            with self.subTest(error=error):
                with contextlib.suppress(Failure, KeyboardInterrupt), Stage("test", 1, quiet()) as stage:
                    process = stage.program("sleeper", SLEEP)
                    if error:
                        raise error
                self.assertFalse(process.running())
                self.assertFalse(stage.folder.exists())

    def test_a_process_that_ignores_sigterm_is_killed(self):
        with Stage("test", 1, quiet()) as stage:
            process = stage.program("stubborn", STUBBORN)
            stage.until("it is ready", lambda: "ready" in process.log)
            process.end(within=0.1)
            self.assertEqual(-9, process.process.returncode)

    def test_a_process_that_ends_by_itself_is_a_failure_with_its_last_words(self):
        with Stage("test", 1, quiet()) as stage:
            stage.program("brief", [sys.executable, "-c", "print('last words'); raise SystemExit(3)"])
            with self.assertRaisesRegex(Failure, r"(?s)brief ended with exit code 3.*last words"):
                stage.until("never", lambda: False)

    def test_a_state_that_does_not_come_is_a_failure(self):
        with Stage("test", 1, quiet()) as stage:
            with self.assertRaisesRegex(Failure, "not happen within 0 s: never"):
                stage.until("never", lambda: False, within=0)


class Commands(unittest.TestCase):
    def run_system(self, play):
        module = mock.Mock(SECONDS=1, TARGETS=("a", "b"), play=play)
        output = io.StringIO()
        with mock.patch.object(command, "system", lambda name: module), contextlib.redirect_stdout(output):
            return command.run("name", None), output.getvalue()

    def test_the_exit_code_is_that_of_the_verdict(self):
        for holds, code in ((True, 0), (False, 1)):
            self.assertEqual(code, self.run_system(lambda stage: stage.verdict.check(holds, "text"))[0])
        self.assertEqual(1, self.run_system(lambda stage: None)[0])  # a story without a check shows nothing

    def test_a_missing_proof_and_an_interrupt_have_exit_codes_of_their_own(self):
        self.assertEqual((69, "scripts/demo name: no room\n"), self.run_system(mock.Mock(side_effect=Failure("no room"))))
        code, output = self.run_system(mock.Mock(side_effect=KeyboardInterrupt))
        self.assertEqual(130, code)
        self.assertIn("interrupted", output)

    def test_each_system_has_what_the_stage_needs_and_a_page(self):
        names = [file.stem for file in (ROOT / "tools/demo/systems").glob("[a-z]*.py")]
        self.assertIn("stream_processor", names)
        for name in names:
            with self.subTest(name=name):
                module = command.system(name.replace("_", "-"))
                self.assertTrue(module.TARGETS and module.SECONDS > 0 and callable(module.play) and module.__doc__)
                self.assertLess((ROOT / f"tools/demo/systems/{name}.py").read_text().count("\n"), 200)
                self.assertTrue((ROOT / f"docs/systems/{name.replace('_', '-')}.md").exists())

    def test_help_lists_the_systems_and_an_unknown_system_is_refused(self):
        done = subprocess.run([ROOT / "scripts" / "demo", "--help"], text=True, capture_output=True, check=False)
        self.assertEqual(0, done.returncode)
        self.assertRegex(done.stdout, r"  stream-processor +16 partitions")
        for name in ("nothing", "../systems/stream-processor"):
            done = subprocess.run([ROOT / "scripts" / "demo", name], text=True, capture_output=True, check=False)
            self.assertEqual((64, ""), (done.returncode, done.stdout))
            self.assertIn("--help", done.stderr)
