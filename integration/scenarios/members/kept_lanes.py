"""While revoked lanes drain, the lanes that the member keeps go on, with new records too.

usage: kept_lanes.py cooperative-sticky|consumer
"""
import json
import sys
import threading

import harness
from harness import PATIENCE, Promises, expect, wait_until
from web_service import WebService, record_of

PROTOCOL = sys.argv[1] if len(sys.argv) > 1 else "cooperative-sticky"
PARTITIONS, BEFORE, MORE = 8, 20, 400


class FirstRecordsWait(WebService):
    """Answers the first record of each partition when it is opened, and all others at once."""

    def __init__(self):
        self.opened, self.kept, self.answered = threading.Event(), 0, {}
        super().__init__()

    def judge(self, headers, body):
        partition, offset = record_of(headers)
        if offset == 0 and not self.opened.is_set():
            with self.lock:
                self.kept += 1
            self.opened.wait(2 * PATIENCE)
        with self.lock:
            self.answered[partition] = self.answered.get(partition, 0) + 1
        return 204


def settings(gate):
    protocol = {"group.protocol": "consumer"} if PROTOCOL == "consumer" else {
        "partition.assignment.strategy": PROTOCOL, "heartbeat.interval.ms": 500}
    return {"kafka": protocol, "handler": {"simulate": None, "http": {"url": gate.url(), "timeout": "300s"}},
            "lanes": {"workers": 2, "drain": "100s", "drain_queued": "return"}}


def draining(service):
    return [lane["partition"] for lane in json.loads(service.get("/status"))["lanes"] if lane["state"] == "draining"]


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    gate = FirstRecordsWait()
    first = run.service("first", **settings(gate))
    run.produce("--count", PARTITIONS * BEFORE)
    wait_until("one worker of each lane is at work, and the other has done the rest",
               lambda: gate.kept == PARTITIONS and sum(gate.answered.values()) == PARTITIONS * (BEFORE - 1))
    second = run.service("second", **settings(gate))
    leaving = wait_until("the first member drains some of its lanes", lambda: draining(first))
    kept = set(range(PARTITIONS)) - set(leaving)
    expect(kept, "no lane stays with the first member")
    run.produce("--count", PARTITIONS * MORE)
    wait_until("each kept lane has done what was written meanwhile", lambda: all(
        gate.answered[partition] == BEFORE - 1 + MORE for partition in kept))
    expect(set(leaving) <= set(draining(first)), "the drain has ended")
    gate.opened.set()
    run.wait_for_no_lag()
    for service in (first, second):
        service.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main(f"kept-lanes-{PROTOCOL}", scenario)
