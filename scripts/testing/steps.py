"""Steps of a test run: programs with a log each, whose progress is shown while they run side by side."""
import os
import re
import signal
import subprocess
import sys
import threading
import time

NINJA = re.compile(r"^\[(\d+)/(\d+)\]")
CTEST = re.compile(r"^\s*(\d+)/(\d+) Test\s+#\d+: (.*) \.{2,}\s*(?:\*\*\*)?([A-Z].*?)\s+[\d.]+ sec")
SHOWN = 150  # lines of a failed test or step
# What runs behind everything else. Linux shares the processor between sessions, of which each step is one, before their processes.
# A user may set one such priority each 0.1 s.
LATER = 'for i in 1 2 3 4 5; do (echo 19 > /proc/self/autogroup) 2> /dev/null && break; sleep 0.15; done; exec nice "$@"'
REASON = re.compile(r"\bFAILED:|^(FAIL|ERROR): |^Traceback |Sanitizer: ")
AFTER_REASON = 8  # lines that follow a reason and belong to it
INTERVAL = 30  # s between two lines of progress without a terminal


class Failed(Exception):
    """A step that everything else depends on has failed."""


def reasons(lines):
    """The lines that say what failed, among the many that a test binary logs."""
    shown = {at + after for at, line in enumerate(lines) if REASON.search(line) for after in range(-1, AFTER_REASON)}
    return [line[:300] for at, line in enumerate(lines) if at in shown][:SHOWN]


class Board:
    """The counts of passed and failed tests, and the running steps; one line of progress. Any thread may call it."""

    def __init__(self, logs):
        self.logs, self.lock = logs, threading.Lock()
        self.passed, self.failed = 0, []
        self.running = {}  # step: how far it is
        self.processes = set()
        self.begun = self.shown = time.monotonic()
        self.terminal = sys.stdout.isatty()

    def minutes(self):
        return (time.monotonic() - self.begun) / 60

    def say(self, text):
        with self.lock:
            self.print_above(text)

    def print_above(self, text):
        clear = "\r\033[K" if self.terminal else ""
        print(f"{clear}{self.clock()} {text}", flush=True)

    def clock(self):
        whole = int(time.monotonic() - self.begun)
        return f"{whole // 60:3}:{whole % 60:02}"

    def progress(self, step, how_far):
        with self.lock:
            self.running[step] = how_far
            now = time.monotonic()
            if now - self.shown < (0.2 if self.terminal else INTERVAL):
                return
            self.shown = now
            line = ", ".join(f"{name} {far}".strip() for name, far in self.running.items())
            line += f"; {self.passed} passed, {len(self.failed)} failed"
            if self.terminal:
                print(f"\r\033[K{self.clock()} {line}"[:110], end="", flush=True)
            else:
                print(f"{self.clock()} {line}", flush=True)

    def end(self, step):
        with self.lock:
            self.running.pop(step, None)

    def test_passed(self):
        with self.lock:
            self.passed += 1

    def test_failed(self, name, log, lines):
        with self.lock:
            self.failed.append((name, log, reasons(lines)))
            self.print_above(f"FAILED {name}, see {log}")
            print("\n".join(lines[-SHOWN:]), flush=True)

    def stop(self):
        """Ends what still runs, with its children."""
        with self.lock:
            processes, self.processes = self.processes, set()
        for process in processes:
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass


def lines_of(board, step, command, log, folder, background, environment):
    """The lines that a program prints, which also go to the log; at the end its exit code."""
    if background:
        command = ["sh", "-c", LATER, "sh", *map(str, command)]
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", start_new_session=True, env={**os.environ, **environment})
    with board.lock:
        board.processes.add(process)
        board.running[step] = ""
    with open(log, "w", encoding="utf-8") as file, process.stdout:
        for line in process.stdout:
            file.write(line)
            file.flush()
            yield line.rstrip("\n")
    yield process.wait()
    with board.lock:
        board.processes.discard(process)
    board.end(step)


class Steps:
    """Runs programs, shows how far they are, and keeps count. Logs are in one folder."""

    def __init__(self, root, board, environment):
        self.root, self.board, self.environment = root, board, environment

    def lines(self, step, command, background):
        log = self.board.logs / (re.sub(r"\W+", "-", step) + ".log")
        return log, lines_of(self.board, step, [str(word) for word in command], log, self.root, background, self.environment)

    def prepare(self, step, command, background=False):
        """A program that has to succeed, or nothing else can; not counted."""
        begun = time.monotonic()
        log, lines = self.lines(step, command, background)
        seen = []
        for line in lines:
            if isinstance(line, int):
                break
            seen.append(line)
            found = NINJA.match(line)
            self.board.progress(step, f"{found[1]}/{found[2]}" if found else "")
        for _ in lines:
            pass
        if line != 0:
            raise Failed(f"{step} failed, see {log}:\n" + "\n".join(seen[-SHOWN:]))
        self.board.say(f"{step}: done in {time.monotonic() - begun:.0f} s")

    def check(self, step, command, background=True):
        """A program that is one test: its exit code says whether it passed."""
        log, lines = self.lines(step, command, background)
        seen = []
        code = 1
        for line in lines:
            if isinstance(line, int):
                code = line
            else:
                seen.append(line)
        if code == 0:
            self.board.test_passed()
            self.board.say(f"{step}: passed")
        else:
            self.board.test_failed(step, log, seen)

    def ctest(self, step, build, options, background=False):
        """Many tests, each counted."""
        command = ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", *options]
        log, lines = self.lines(step, command, background)
        failure, name, count, code = [], None, 0, 1
        begun = time.monotonic()
        for line in lines:
            if isinstance(line, int):
                code = line
                continue
            found = CTEST.match(line)
            if (found or "tests passed" in line) and name:
                self.board.test_failed(name, log, failure)
                failure, name = [], None
            if found:
                count += 1
                if found[4] == "Passed":
                    self.board.test_passed()
                else:
                    name = f"{step}: {found[3]}"
                self.board.progress(step, f"{found[1]}/{found[2]}")
            if name:
                failure.append(line)
        if code != 0 and not any(failed.startswith(step + ":") for failed, *_ in self.board.failed):
            self.board.test_failed(f"{step}: ctest", log, log.read_text(errors="replace").splitlines())
        self.board.say(f"{step}: {count} tests ended in {time.monotonic() - begun:.0f} s")
