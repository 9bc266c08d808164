"""One node of a cluster: its folder, its process, and whether the process answers."""
import contextlib
import os
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

from ..failure import Failure
from .jars import install
from .settings import USERS, broker_settings, open_ports, properties

START_DEADLINE = 150.0


def answers(port, nodes, timeout=2.0):
    """Whether the broker at `port` knows a cluster of `nodes` brokers (a Metadata request, version 0)."""
    request = struct.pack(">hhih", 3, 0, 1, -1) + struct.pack(">i", 0)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout) as connection:
            connection.settimeout(timeout)
            connection.sendall(struct.pack(">i", len(request)) + request)
            with connection.makefile("rb") as reader:
                (size,) = struct.unpack(">i", reader.read(4))
                _, brokers = struct.unpack(">ii", reader.read(size)[:8])
                return brokers >= nodes
    except (OSError, struct.error):
        return False


class Node:
    """`state` and `folder` are the cluster's, `access` is what belongs to its ways to log in, or None."""

    def __init__(self, state, folder, number, access):
        self.state, self.number, self.access = state, number, access
        self.cluster_folder = folder
        self.folder = folder / f"node-{number}"
        self.properties = self.folder / "server.properties"
        self.pid_file = self.folder / "pid"

    @property
    def port(self):
        return self.state["ports"][self.number - 1]

    def pid(self):
        """The process id of the running node, or None. Checks the command line, because process ids are reused."""
        try:
            pid = int(self.pid_file.read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if os.fsencode(self.properties) in command else None

    def java(self, main, *arguments):
        classpath = f"{self.cluster_folder}:{install(self.state['version'])}/*"
        options = self.access.java_options() if self.access else []
        return ["java", f"-Xmx{self.state['heap']}", *options, "-cp", classpath, main, *arguments]

    def configure(self):
        settings = broker_settings(self.state, self.number, self.folder)
        if self.access:
            settings.update(self.access.broker_settings(settings))
        settings.update(self.state["config"])
        self.folder.mkdir(parents=True, exist_ok=True)
        self.properties.write_text(properties(settings))

    def format(self):
        """Starts Kafka's storage tool; a node that has been formatted is left unchanged."""
        command = self.java("kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", self.state["id"],
                            "-c", str(self.properties))
        if self.access:
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
                command += ["--add-scram", f"{mechanism}=[name=worker,password={USERS['worker']}]"]
        command[1:1] = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def launch(self):
        if self.pid():
            return
        with open(self.folder / "server.log", "ab") as log:
            process = subprocess.Popen(self.java("kafka.Kafka", str(self.properties)), stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, start_new_session=True, close_fds=True)
        self.pid_file.write_text(str(process.pid))
        while process.poll() is None and not self.pid():
            time.sleep(0.01)  # a new process has no command line for a moment

    def wait_until_it_answers(self, deadline):
        while not answers(open_ports(self.state)[self.number - 1], len(self.state["ports"])):
            reason = None
            if not self.pid():
                reason = "ended"
            elif time.monotonic() > deadline:
                reason = f"did not answer within {START_DEADLINE:.0f} s"
            if reason:
                log = (self.folder / "server.log").read_text(errors="replace")
                raise Failure(f"Kafka node {self.number} {reason}; the end of {self.folder}/server.log:\n{log[-3000:]}")
            time.sleep(0.1)

    def stop(self, kill, deadline):
        pid = self.pid()
        if not pid:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL if kill else signal.SIGTERM)
            while self.running(pid):
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                time.sleep(0.05)
        self.pid_file.unlink(missing_ok=True)

    def running(self, pid):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)  # when it is a child of this very process, it must be reaped to be gone
        return self.pid() == pid
