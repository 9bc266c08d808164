"""The evidence of a run, gathered while it goes on, and the oracle's judgement of it."""
import contextlib
import json
import subprocess
import threading
import time

import oracle
from evidence import Evidence
from waits import Failed, expect


class Judgement:
    """`cluster` has the records."""

    def __init__(self, cluster):
        self.cluster, self.evidence = cluster, Evidence()
        self.lock, self.sampler = threading.Lock(), None

    def committed(self, group, topics):
        """{(topic, partition): offset} as the broker says now; also kept as evidence."""
        with self.lock:
            lines = self.cluster.tool("committed", group, *topics)
            self.evidence.add_commits(lines, time.time_ns(), topics)
            return self.evidence.last_commits()

    def sample(self, function, every):
        """Calls the function repeatedly until the judgement."""
        self.sampler = Sampler(function, every)

    def stop_sampling(self):
        if self.sampler:
            self.sampler.stop()

    def keep_copies(self, outcome, topics):
        """Keeps the content of these topics as evidence of the records that ended with this outcome."""
        for topic in topics:
            self.evidence.add_copies(outcome, topic, self.cluster.tool("read", topic))

    def add_journals(self, services):
        for service in services:
            if service.journal.is_file():
                with open(service.journal, encoding="utf-8", newline="") as lines:
                    self.evidence.add_journal(lines, service.name)

    def add_topics(self, topics, with_records):
        for topic in topics:
            self.evidence.add_log(self.cluster.tool("dump", topic, "--read-committed"))
            if with_records:
                self.evidence.add_records(topic, self.cluster.tool("read", topic))

    def add_acknowledgements(self, file):
        with contextlib.suppress(FileNotFoundError), open(file, encoding="utf-8") as lines:
            self.evidence.add_acknowledgements(lines)

    def report(self, promises, show):
        """The oracle's, printed where `show`; Failed when it has found a violation."""
        report = oracle.judge(self.evidence, promises)
        if show or report["violations"]:
            print(json.dumps(report, indent=1))
        expect(not report["violations"], "the oracle found violations: " + ", ".join(report["violations"]))
        return report


class Sampler:
    """Calls a function again and again in a thread of its own. A call that fails is left out: Kafka may be down."""

    def __init__(self, function, every):
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work, args=(function, every), daemon=True)
        self.thread.start()

    def work(self, function, every):
        while not self.stopping.wait(every):
            with contextlib.suppress(Failed, subprocess.SubprocessError):
                function()

    def stop(self):
        self.stopping.set()
        self.thread.join(60)
