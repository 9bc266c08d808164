"""Reads the facts that a run has left behind: the web service's journal, the producer's acknowledgements, and the topics."""
import json
import re

from evidence import Evidence
from facts import Acknowledged, Parked, Request


def requests_of(downstream):
    found = []
    for fields in downstream.requests():
        partition = (fields.pop("topic"), fields.pop("partition"))
        found.append(Request(partition=partition, **fields))
    return found


def acknowledged_in(file):
    return [Acknowledged((fields["topic"], fields["partition"]), fields["offset"], fields["number"], fields["time"])
            for fields in map(json.loads, file.read_text().splitlines())]


def read_log(run, facts):
    """What a reader sees of the run's topic at the end."""
    for fields in map(json.loads, run.tool("dump", run.topic)):
        partition = (fields["topic"], fields["partition"])
        if "end" in fields:
            facts.ends[partition] = fields["end"]
        else:
            facts.log.setdefault(partition, set()).add(fields["offset"])


def gaps_in(log):
    """{partition: [(begin, end)]} of the records that a member's log says are missing."""
    found = {}
    for line in log.splitlines():
        if 'msg="offset gap"' in line:
            fields = dict(re.findall(r"(\w+)=(\S+)", line))
            begin = int(fields["expected"])
            found.setdefault((fields["topic"], int(fields["partition"])), []).append((begin, begin + int(fields["missing"])))
    return found


def copies_in(run, topic):
    """The records of a dead-letter or retry topic."""
    evidence = Evidence()
    evidence.add_copies("dead_letter", topic, run.tool("read", topic))
    return evidence.copies["dead_letter"]


def parked_in(copies):
    """{origin: Parked} of those that were parked, and did not fail."""
    found = {}
    for copy in copies:
        if any(name == "laneway-retry-waiting-since" for name, _ in copy.record.headers):
            time = copy.record.timestamp * 1_000_000
            found[copy.origin] = Parked(number_of(copy.record), min(time, found.get(copy.origin, (0, time))[1]))
    return found


def number_of(record):
    """The producer's, which the value begins with."""
    return int(bytes.fromhex(record.value or "").split(b".")[0])
