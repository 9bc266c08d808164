"""`laneway status` as a person sees it: on a pipe, on a terminal of 80 columns, watched. The service that answers is a stand-in."""
import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest
from pathlib import Path

from stand_in import StandIn

ROOT = Path(__file__).resolve().parents[2]
LANEWAY = os.environ.get("LANEWAY", str(ROOT / "build" / "app" / "laneway"))
ROWS, COLUMNS = 24, 80
LONGEST = 120  # a hang is a failure; nothing passes or fails by being faster
ESCAPE = re.compile(r"\033\[[0-9;]*[A-Za-z]")
LANE = {"topic": "orders-of-a-shop-with-a-long-name", "state": "running", "suspended": False, "hold_reasons": [], "lag": 10 ** 12,
        "in_flight": 8, "queued": 256, "waiting_retries": 3, "stuck": 0, "committed": 10 ** 15, "rate": 1e9, "source_error": "",
        "finished_beyond_commit": 10 ** 9,
        "oldest": {"offset": 10, "age_seconds": 19, "attempts": 6, "failed_attempt": 5, "error": "HTTP 500 " * 30}}
STATUS = {"version": "0.1.0", "group": "orders", "uptime_seconds": 26, "members": 2, "ready": False, "breaker": None,
          "reasons": [{"code": "stalled", "topic": LANE["topic"], "partition": 0, "text": "a reason in many words " * 8}], "advice": ["do this and that " * 10]}


class Service(StandIn):
    """One lane is held, one suspended, the rest are running; it has been asked so often: members."""

    def status(self):
        self.asked += 1
        changes = {0: {"state": "held", "hold_reasons": [{"code": "pool_full", "cause": "limit", "text": "pool full"}]}, 1: {"suspended": True}}
        lanes = [{**LANE, "partition": partition, **changes.get(partition, {})} for partition in range(40)]
        return {**STATUS, "members": self.asked, "lanes": lanes}


class Terminal:
    """A program with a terminal of its own, and what it has written so far."""

    def __init__(self, command, environment):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
                                        start_new_session=True, preexec_fn=self.own)
        os.close(theirs)
        self.text = ""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    @staticmethod
    def own():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever starts the tests may ignore it
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read(self):
        with contextlib.suppress(OSError):  # the other end is closed: Linux says so with an error
            while piece := os.read(self.ours, 65536):
                self.text += piece.decode(errors="replace").replace("\r\n", "\n")

    def end(self):
        """The exit code."""
        try:
            return self.process.wait(LONGEST)
        finally:
            self.process.kill()
            self.process.wait()
            self.reader.join(LONGEST)
            os.close(self.ours)


class Status(unittest.TestCase):
    def setUp(self):
        self.service = Service()
        self.addCleanup(self.service.server_close)
        self.addCleanup(self.service.shutdown)
        self.command = [LANEWAY, "status", "--admin", f"127.0.0.1:{self.service.server_port}"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LANEWAY_", "NO_COLOR"))}
        self.environment = {**kept, "TERM": "xterm"}

    def on_terminal(self, **variables):
        terminal = Terminal(self.command, {**self.environment, **variables})
        self.assertEqual(0, terminal.end(), terminal.text)
        return terminal.text

    def fits(self, text):
        plain = ESCAPE.sub("", text)
        self.assertIn("pool full", plain)
        for line in plain.splitlines():
            self.assertLessEqual(len(line), COLUMNS, line)
        return plain

    def test_a_pipe_gets_no_colours(self):
        done = subprocess.run(self.command, text=True, capture_output=True, timeout=LONGEST, env=self.environment, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertNotIn("\033", done.stdout)
        self.assertIn("a reason in many words " * 7, done.stdout)  # not wrapped
        table = [line for line in done.stdout.splitlines() if re.match(rf"{LANE['topic']}:\d+ +(running|held|suspended) ", line)]
        self.assertEqual(40, len(table), done.stdout)

    def test_a_terminal_gets_colours_but_not_where_they_are_unwanted(self):
        text = self.on_terminal()
        self.fits(text)
        for words in ("\033[31mNOT READY", "\033[31mheld", "\033[33msuspended", "\033[32mrunning"):
            self.assertIn(words, text)
        self.assertIn("\033[32m", self.on_terminal(NO_COLOR=""))
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\033", self.on_terminal(**variables), variables)

    def test_watching_draws_over_the_last_status_until_an_interrupt(self):
        terminal = Terminal([*self.command, "--watch"], self.environment)
        deadline = time.monotonic() + LONGEST
        while ", 3 members," not in terminal.text and terminal.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        os.write(terminal.ours, b"\x03")
        self.assertEqual(-signal.SIGINT, terminal.end(), terminal.text)  # 130 for a shell
        cleared, *frames = terminal.text.split("\033[H")
        self.assertEqual("\033[2J", cleared)
        self.assertGreaterEqual(len(frames), 3)
        for number, frame in enumerate(frames[:2], 1):
            self.assertIn(f", {number} members," if number > 1 else ", 1 member,", frame)
            self.assertTrue(frame.endswith("\033[J"), frame)
            for line in frame.split("\n")[:-1]:
                self.assertTrue(line.endswith("\033[K"), line)
            self.assertLess(self.fits(frame).count("\n"), ROWS, "the last line's end would move the first one out")
            self.assertIn("lanes more, with a lag of ", ESCAPE.sub("", frame))


if __name__ == "__main__":
    unittest.main()
