"""The handlers of outages.py: a web service, a program, a plugin, another cluster. Each can fail, and work again.

`settings` is the handler's part of the configuration; `done()` returns the places (partition, offset) of the records that the
handler has done, by a witness that is not laneway, or None if no such witness exists.
"""
import json
import os
import sys

from downstream import Downstream
from exactly_once import DELIVERY_ID
from process import PLUGINS
from run import Run

PROGRAM = """
import json, sys, time

mode, done = sys.argv[1], open(sys.argv[2], "a", buffering=1)
for line in sys.stdin:
    record = json.loads(line)
    now = open(mode).read()
    if now == "exit":
        sys.exit(3)
    if now == "hang":
        time.sleep(1000)
    if now == "work":
        done.write(f"{record['partition']} {record['offset']}\\n")
    print(json.dumps({"id": record["id"], "outcome": "done" if now == "work" else "retry"}), flush=True)
"""


class Web:
    program = None

    def __init__(self, run, http=None, poison=None, tls=False):
        self.downstream = Downstream(run.folder, "web", tls, **(poison or {}))
        self.settings = {"http": {"url": self.downstream.url + "/orders", **(http or {})}}
        if tls:
            self.settings["http"]["ca_file"] = self.downstream.authority

    def fail(self, how):
        self.downstream.become(**how)

    def work(self):
        self.downstream.become("work")

    def requests(self):
        return self.downstream.requests()

    def done(self):
        return {(request["partition"], request["offset"]) for request in self.requests()
                if request["status"] is not None and request["status"] < 300}

    def close(self):
        self.downstream.close()


class Told:
    """A handler that a file controls."""

    program = None  # instead of laneway

    def __init__(self, run):
        self.file = run.folder / "mode"
        self.work()

    def become(self, mode):
        new = self.file.with_suffix(".new")
        new.write_text(mode)
        new.rename(self.file)

    def fail(self, how):
        self.become(how)

    def work(self):
        self.become("work")

    def close(self):
        pass


class Program(Told):
    def __init__(self, run):
        super().__init__(run)
        self.handled, program = run.folder / "handled", run.folder / "program.py"
        program.write_text(PROGRAM)
        self.settings = {"exec": {"command": [sys.executable, str(program), str(self.file), str(self.handled)], "timeout": "1s"}}

    def done(self):
        return {tuple(map(int, line.split())) for line in self.handled.read_text().splitlines()}


class Plugin(Told):
    def __init__(self, run):
        super().__init__(run)
        self.settings = {"plugin": {"library": str(PLUGINS / "told.so"), "timeout": "1s", "config": {"mode": str(self.file)}}}

    def done(self):
        return None


class Library(Told):
    """A program of the user's own with laneway in it."""

    def __init__(self, run):
        super().__init__(run)
        self.program = [str(PLUGINS / "told_service"), str(self.file)]
        self.settings = {}

    def done(self):
        return None


class Cluster:
    """Another Kafka, which is killed and started again."""

    program = None

    def __init__(self, run):
        self.run, self.other = run, Run("outages-other", own_kafka=True)
        self.other.__enter__()
        self.topic = run.topic + "-out"
        self.other.create(4, topic=self.topic)
        self.settings = {"produce": {"topic": self.topic, "timeout": "2s", "kafka": {"bootstrap.servers": self.other.bootstrap}}}

    def fail(self, how):
        self.other.kafka("stop", "--kill")

    def work(self):
        self.other.kafka("start", "--while", str(os.getpid()))

    def done(self):
        found = set()
        for record in map(json.loads, self.other.tool("read", self.topic)):
            for name, value in record.get("headers", []):
                if name == DELIVERY_ID:
                    found.add(tuple(map(int, bytes.fromhex(value).decode().split("/")[2:4])))
        return found

    def close(self):
        self.other.clean_up()
