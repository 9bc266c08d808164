"""Processes that a demo starts: each has a log, and ends with the demo however that one ends."""
import contextlib
import ctypes
import os
import re
import signal
import subprocess
from pathlib import Path

from ..failure import Failure

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
LAST_LINES = 15


def die_with_parent():
    """In the child, before exec."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def environment():
    """Without variables that laneway would take for settings."""
    return {key: value for key, value in os.environ.items() if not key.startswith("LANEWAY_")}


class Process:
    """One program. `ended` is called for by whoever expects it to go on: its end is then a failure, with its last lines.

    A session of its own, so that Ctrl-C reaches the demo alone, which then ends its processes in order.
    """

    def __init__(self, name, command, folder, variables=None):
        self.name, self.log_file = name, Path(folder) / f"{name}.log"
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, preexec_fn=die_with_parent,
                                            env={**environment(), **(variables or {})})
        self.may_end = False  # set before an end that is expected

    @property
    def log(self):
        return self.log_file.read_text(errors="replace")

    def running(self):
        return self.process.poll() is None

    def check(self):
        """Raises Failure if it has ended by itself."""
        if not self.may_end and not self.running():
            tail = "\n".join(self.log.splitlines()[-LAST_LINES:])
            raise Failure(f"{self.name} ended with exit code {self.process.returncode}; its last lines:\n{tail}")

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def stop(self):
        """Asks it to end, and returns at once; `running` shows when it has."""
        self.may_end = True
        self.signal(signal.SIGTERM)

    def kill(self):
        """kill -9; returns when it is gone."""
        self.may_end = True
        self.process.kill()
        self.process.wait()

    def resident(self):
        """Bytes of memory that it has now; 0 when it has ended."""
        with contextlib.suppress(OSError):
            if found := re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text()):
                return int(found[1]) * 1024
        return 0

    def end(self, within=10.0):
        """However it is: it is gone afterwards."""
        if self.running():
            self.stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(within)
        if self.running():
            self.kill()
