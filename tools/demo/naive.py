"""The naive consumer (integration/naive) beside laneway: its counters, and its journal."""
import json

from .broker import ROOT
from .evidence import Tail
from .processes import Process

PROGRAM = ROOT / "build" / "integration" / "naive" / "naive_consumer"


class Naive(Process):
    """`options`: those of the program."""

    def __init__(self, name, stage, topic, group, *options):
        self.journal = stage.folder / f"{name}.journal"
        super().__init__(name, [PROGRAM, "--bootstrap", stage.kafka.bootstrap, "--topic", topic, "--group", group,
                                "--journal", self.journal, *options], stage.folder)
        self.tail = Tail(self.journal)

    def counters(self):
        """polled, rejected, dropped, asleep_ms as last printed, and the number of seconds it has run; {} before the first."""
        lines = [line for line in self.log.splitlines(keepends=True) if line.startswith("{") and line.endswith("\n")]
        return {**json.loads(lines[-1]), "seconds": len(lines)} if lines else {}

    def polls(self):
        return bool(self.counters())

    def asleep(self):
        """The share of its time that the poll loop slept."""
        counters = self.counters()
        return min(1.0, counters["asleep_ms"] / 1000 / counters["seconds"]) if counters else 0.0

    def finished(self):
        return self.tail.finished()
