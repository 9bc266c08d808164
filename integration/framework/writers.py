"""Processes that write records meanwhile, and the acknowledgements of all that a run has written."""
import contextlib
import json
import subprocess

from process import die_with_parent
from waits import PATIENCE, expect_equal


class Writers:
    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        self.acks = str(folder / "acknowledged")
        self.processes, self.endless = [], []

    def produce(self, verb, topic, *options):
        """Returns when all is acknowledged: how many records."""
        lines = self.cluster.tool(verb, topic, "--acks-file", self.acks, *options)
        return json.loads(lines[-1])["acknowledged"]

    def start(self, verb, topic, *options):
        """A process that goes on writing, without --count until finish."""
        with open(self.folder / f"writer-{len(self.processes)}.log", "wb") as log:
            writer = subprocess.Popen(self.cluster.tool_command(verb, topic, "--acks-file", self.acks, *options), stdout=log,
                                      stderr=log, preexec_fn=die_with_parent)
        self.processes.append(writer)
        if "--count" not in options:
            self.endless.append(writer)

    def finish(self, within=PATIENCE):
        for writer in self.endless:
            writer.terminate()
        for writer in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                writer.wait(within)
            expect_equal(0, writer.returncode, "exit code of a writer")
