"""`laneway demo` as a person sees it: on a pipe, on a terminal, and interrupted."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LANEWAY = os.environ.get("LANEWAY", str(ROOT / "build" / "app" / "laneway"))
SHORT = [LANEWAY, "demo", "--seconds", "8", "--records", "1200"]
# A hang shows as a failure, not as a test that never ends; no test passes or fails by being faster.
LONGEST = 120


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="laneway-demo-test-")
        self.addCleanup(folder.cleanup)
        self.environment = {**os.environ, "TMPDIR": folder.name, "TERM": "xterm"}

    def summary(self, text):
        """The figures at the end: produced, processed, committed, lost, duplicated."""
        found = re.search(r"produced +(\d+) .*\nprocessed +(\d+) .*\ncommitted +(\d+) .*\nlost (\d+), duplicated (\d+)",
                          text.replace("\r", ""))
        self.assertTrue(found, text)
        return [int(figure) for figure in found.groups()]

    def test_lines_on_a_pipe_have_the_whole_story_and_nothing_is_lost(self):
        done = subprocess.run(SHORT, text=True, capture_output=True, timeout=LONGEST, env=self.environment, check=False)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual([1200, 1200, 1200, 0, 0], self.summary(done.stdout))
        self.assertNotIn("\033", done.stdout)
        for event in (r"lane \d held", r"lane \d paused", r"lane \d resumed", r"member 2 joins", r"member 1 drains \d lanes",
                      r"member 2 has lanes", r"member 2 stops: it drains", r"member 1 stops"):
            self.assertRegex(done.stdout, event)
        # The demo looks at the lanes now and then; a drain may begin and end between two looks.
        self.assertRegex(done.stdout, r"member 2 (drains \d lanes|has given its lanes back)")

    def test_a_terminal_gets_a_table_that_is_drawn_again_and_again(self):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        process = subprocess.Popen(SHORT, stdin=theirs, stdout=theirs, stderr=theirs, env=self.environment)
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:
            pass  # the other end is closed: Linux says so with an error
        os.close(ours)
        text = text.decode()
        self.assertEqual(0, process.wait(LONGEST), text[-2000:])
        self.assertEqual([1200, 1200, 1200, 0, 0], self.summary(text))
        self.assertGreater(text.count("committed   holds"), 10)
        self.assertIn("\033[31mpaused", text)

    def test_an_interrupt_drains_and_accounts_for_the_finished_records(self):
        process = subprocess.Popen([LANEWAY, "demo"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment)
        text = ""
        while not (" held" in text and re.search(r" done [1-9]", text)):  # on a busy machine lanes are held first
            line = process.stdout.readline()
            self.assertTrue(line, text)
            text += line
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=LONGEST)
        self.assertEqual(0, process.returncode, text + rest + errors)
        self.assertIn("interrupted", rest)
        produced, processed, committed, lost, duplicated = self.summary(rest)
        self.assertEqual((0, 0), (lost, duplicated))
        self.assertTrue(0 < committed <= processed <= produced, rest)

    def test_a_missing_folder_for_temporary_files_is_reported(self):
        done = subprocess.run(SHORT, text=True, capture_output=True, timeout=LONGEST, check=False,
                              env={**self.environment, "TMPDIR": "/nowhere"})
        self.assertEqual(66, done.returncode, done.stdout)
        self.assertIn("TMPDIR", done.stderr)


if __name__ == "__main__":
    unittest.main()
