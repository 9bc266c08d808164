"""Brokers whose topic of offsets takes small batches only: commits arrive in smaller requests, and nothing stands still.
usage: commit_size.py maps|transactional

maps: every second record waits for its next attempt, so each lane has a long completion map. All maps are committed, and the next
service runs no finished record again. Then the brokers end: the last commit of a stop fails, and the exit code says so.
transactional: the offsets of many partitions in one transaction.
"""
import json
import sys

import harness
from exactly_once import all_written, expect_each_once, records_of
from harness import expect, expect_equal, wait_until
from offsets_topic import completion_runs
from web_service import WebService, record_of

MODE = sys.argv[1] if len(sys.argv) > 1 else "maps"
LARGEST_BATCH = 5000  # bytes
PARTITIONS, RECORDS = (8, 5000) if MODE == "maps" else (100, 1000)


class EverySecond(WebService):
    """Finishes records with odd offsets, and counts how often each record came."""

    def __init__(self):
        self.calls = {}
        super().__init__()

    def judge(self, headers, _):
        record = record_of(headers)
        with self.lock:
            self.calls[record] = self.calls.get(record, 0) + 1
        return 204 if record[1] % 2 else 503


def maps(run):
    """How many records above the committed offsets are committed as finished."""
    lines = map(json.loads, run.tool("committed", run.group, run.topic))
    return sum(end - begin for line in lines if line["metadata"]
               for begin, end in completion_runs(line["metadata"], line["offset"]))


def with_maps(run):
    receiver = EverySecond()
    settings = {"handler": {"simulate": None, "http": {"url": receiver.url()}}, "breaker": {"failures": 0},
                "retry": {"backoff": "1h", "max_backoff": "1h", "attempts": 100}, "commit": {"interval": "200ms"}}
    run.produce("--count", RECORDS, "--size", 10)
    first = run.service("first", **settings)
    wait_until("each record has had its attempt", lambda: len(receiver.calls) == RECORDS)
    finished = sum(offset % 2 for _, offset in receiver.calls)
    wait_until("all finished records are in the committed maps", lambda: maps(run) == finished)
    expect(first.events("commit refused, perhaps for its size: sent again in smaller requests"), "no commit was too large")
    first.stop()
    second = run.service("second", **settings)
    wait_until("the others have run again", lambda: sum(receiver.calls.values()) == 2 * RECORDS - finished)
    expect_equal({1}, {count for (_, offset), count in receiver.calls.items() if offset % 2}, "runs of finished records")
    second.stop()
    last = run.service("last", commit={"interval": "1h", "every": 1000000}, topics=[run.topic + "-more"])
    run.create(1, topic=run.topic + "-more")
    run.produce("--count", 10, "--size", 10, topic=run.topic + "-more")
    run.wait_for_progress(last, 10)
    run.kafka("stop")
    last.stop(code=75)
    (line,) = last.events("finished records are not committed and run again")
    expect(f"topic={run.topic}-more partition=0 " in line and "records=10" in line, f"what is not committed: {line}")


def in_a_transaction(run):
    run.create(4, topic=run.topic + "-out")
    run.produce("--count", RECORDS, "--size", 10, "--header", "number")
    service = run.service("service", handler={"simulate": None, "produce": {"topic": "{topic}-out", "transactional": True}})
    run.wait_for_no_lag()
    expect(service.events("commit refused, perhaps for its size: sent again in smaller requests"), "no commit was too large")
    service.stop()
    expect_each_once(records_of(run, run.topic), all_written(run, RECORDS), RECORDS)


def scenario(run):
    run.create(PARTITIONS, "max.message.bytes=1000000")
    with_maps(run) if MODE == "maps" else in_a_transaction(run)


if __name__ == "__main__":
    harness.main(f"commit-size-{MODE}", scenario, own_kafka=True, broker=[f"message.max.bytes={LARGEST_BATCH}"])
