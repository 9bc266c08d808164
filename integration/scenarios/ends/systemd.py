"""The notifications to a service manager: ready, lanes and lag, the watchdog while the loop turns and only then, the stop. One
thread is frozen as a defect of a library would do it; the rest of the process goes on.
"""
import ctypes
import os
import socket
import threading
import time
from pathlib import Path

import harness
from harness import Failed, Promises, expect, expect_equal, wait_until

RECORDS = 2000
WATCHDOG = 2.0  # seconds, of the unit; it is fed twice in each
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000


class Manager:
    """All notifications, with their times."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.said = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            text = self.socket.recv(65536).decode()
            self.said.append((time.monotonic(), text.splitlines()))

    def times(self, line, since=0.0):
        return [at for at, lines in list(self.said) if at >= since and any(said.startswith(line) for said in lines)]

    def wait_for(self, line, since=0.0, within=harness.PATIENCE):
        return wait_until(f"systemd is told {line}", lambda: self.times(line, since), within)[0]


class Frozen:
    """One thread of a child process, stopped by the debugger's interface."""

    def __init__(self, process, name):
        tasks = [task for task in Path(f"/proc/{process}/task").iterdir() if (task / "comm").read_text().strip() == name]
        expect(len(tasks) == 1, f"threads named {name}: {len(tasks)}")
        self.thread = int(tasks[0].name)
        self.ptrace = ctypes.CDLL(None, use_errno=True).ptrace
        self.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def call(self, request):
        if self.ptrace(request, self.thread, None, None) != 0:
            raise Failed(f"ptrace: {os.strerror(ctypes.get_errno())}")

    def __enter__(self):
        self.call(PTRACE_SEIZE)
        self.call(PTRACE_INTERRUPT)
        os.waitpid(self.thread, WALL)

    def __exit__(self, *_):
        self.call(PTRACE_DETACH)


def scenario(run):
    run.create(4)
    run.produce("--count", RECORDS, "--size", 100)
    manager = Manager(run.folder / "notify")
    service = run.service("told", environment={"NOTIFY_SOCKET": str(run.folder / "notify"),
                                               "WATCHDOG_USEC": str(int(WATCHDOG * 1e6))})
    manager.wait_for("EXTEND_TIMEOUT_USEC=")
    ready = manager.wait_for("READY=1")
    expect(not manager.times("STOPPING=1"), "it said that it stops")
    manager.wait_for("STATUS=4 lanes, 0 records behind, 0 running", ready)
    run.wait_for_no_lag()

    with Frozen(service.process.pid, "loop"):
        stuck = manager.wait_for("STATUS=member 1: its loop has not turned", ready)
        # Food comes with what is said, so three turns without any are no chance.
        wait_until("systemd is told more", lambda: len(manager.times("STATUS=", stuck)) >= 3)
        expect(not manager.times("WATCHDOG=1", stuck), "the watchdog was fed while the loop hung")
    manager.wait_for("WATCHDOG=1", stuck)
    before = [at for at in manager.times("WATCHDOG=1", ready) if at < stuck]
    said = [at for at in manager.times("STATUS=", ready) if at < stuck]
    expect_equal(said, before, "times at which systemd was told something, and at which the watchdog was fed")
    # systemd's own measure: that it would not have ended the service. Half as often as it is meant to be is enough.
    expect(len(before) > (stuck - ready) / WATCHDOG, f"the watchdog was fed {len(before)} times in {stuck - ready:.1f} s")

    service.stop()
    manager.wait_for("STOPPING=1")
    manager.wait_for("STATUS=stopped")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("systemd", scenario)
