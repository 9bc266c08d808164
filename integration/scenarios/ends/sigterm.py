"""SIGTERM under load: running records are finished, processed records are committed, and the next process repeats nothing.

Before its first record has ended, a member does not know how many records fit into its drain. It gives all queued records back, so that
neither a SIGTERM nor a rebalance in its first seconds abandons a record or takes the whole drain.
"""
import datetime
import re
import threading

import harness
from harness import Promises, expect, expect_equal, wait_until
from web_service import WebService

RECORDS = 6000
PARTITIONS, WORKERS, QUEUED, DRAIN = 6, 2, 40, 10  # a worker needs twice the drain (s) for what is queued for it
ORDINARY = 1  # s that a record takes


def under_load(run):
    run.create(6)
    run.produce("--count", RECORDS, "--size", 100)
    run.produce_meanwhile("--rate", 1000, "--size", 100)
    run.watch_commits()
    options = {"handler": {"simulate": {"sleep": {"p50": "5ms", "p99": "60ms"}}}, "lanes": {"workers": 4}}
    first = run.service("first", **options)
    run.wait_for_progress(first, RECORDS // 4)
    first.stop()
    run.finish_writing()
    committed = sum(run.committed().values())
    written = sum(end for _, end in run.watermarks().values())
    expect(first.processed() < written, "everything was done before the SIGTERM: this was no load")
    expect(committed == first.processed(), f"{first.processed()} were processed, but {committed} committed")
    second = run.service("second", **options)
    run.wait_for_no_lag()
    second.stop()
    run.judge(Promises(stopped_clean=True))


class Patient(WebService):
    """No record ends before the release. After it each record takes its ordinary time, or none for the rest of the story."""

    def __init__(self):
        self.arrived, self.released, self.quick = 0, threading.Event(), threading.Event()
        super().__init__()

    def judge(self, _, __):
        with self.lock:
            self.arrived += 1
        self.released.wait(harness.PATIENCE)
        self.quick.wait(ORDINARY)
        return 204

    def hurry(self):
        self.quick.set()
        self.released.set()


class Member:
    def __init__(self, run, name):
        self.web = Patient()
        self.service = run.service(name, handler={"simulate": None, "http": {"url": self.web.url(), "timeout": "300s"}},
                                   lanes={"workers": WORKERS, "drain": f"{DRAIN}s"}, kafka={"heartbeat.interval.ms": 500})

    def wait_for_first_records(self, at_least=1):
        wait_until(f"{self.service.name} has begun its first records", lambda: self.web.arrived >= at_least)

    def drains_before_its_first_record_ends(self):
        wait_until(f"{self.service.name} drains", lambda: self.service.events("lane draining"))
        self.web.released.set()

    def longest_drain(self):
        """In seconds, by the log; each assignment of a lane has an epoch of its own."""
        def times(event):
            found = (re.search(r"ts=(\S+)Z .* epoch=(\d+)", line) for line in self.service.events(event))
            return {match[2]: datetime.datetime.fromisoformat(match[1]) for match in found}
        begun, ended = times("lane draining"), times("lane revoked")
        return max((ended[epoch] - begun[epoch]).total_seconds() for epoch in begun)


def write_queue(part):
    part.create(PARTITIONS)
    part.produce("--count", PARTITIONS * QUEUED)
    part.watch_commits()


def before_its_first_record_ends(run):
    with run.part("sigterm-early") as part:
        write_queue(part)
        first = Member(part, "first")
        first.wait_for_first_records(PARTITIONS * WORKERS)
        first.service.signal(15)
        first.drains_before_its_first_record_ends()
        expect_equal(0, first.service.wait(DRAIN + 5), "exit code of a stop before the first record has ended")
        expect_equal([], first.service.events("abandoned"), "abandoned records")
        expect_equal(PARTITIONS * WORKERS, first.service.processed(), "records of the first member, which were running")
        second = Member(part, "second")
        second.web.hurry()
        part.wait_for_no_lag()
        second.service.stop()
        part.judge(Promises(stopped_clean=True), show=False)


def one_after_the_other(run):
    """As a deployment starts its members."""
    with run.part("sigterm-deployment") as part:
        write_queue(part)
        members = []
        for name in ("first", "second", "third"):
            members.append(Member(part, name))
            if len(members) > 1:
                members[-2].drains_before_its_first_record_ends()
            members[-1].wait_for_first_records()
        for member in members:
            member.web.hurry()
        part.wait_for_no_lag()
        for member in members[:-1]:
            expect_equal([], member.service.events("abandoned"), f"records that {member.service.name} abandoned")
        for member in members:
            member.service.stop()
            longest = member.longest_drain()
            expect(longest < DRAIN, f"a drain of {member.service.name} took {longest:.1f} s")
        part.judge(Promises(stopped_clean=True), show=False)


def scenario(run):
    harness.at_once(run, [under_load, before_its_first_record_ends, one_after_the_other])


if __name__ == "__main__":
    harness.main("sigterm", scenario)
