"""Exactly once from topic to topic: each record that was read is in the output once, for a reader of committed records.
usage: produce_transactional.py none|key

Some records cannot be written at first, so that later records complete before them, and only the completion map has this. A
static member is killed under load and started again, a second member joins, is killed as well, and the others take its
partitions over; at the end comes one that can write every record. With order: key each key's records are in order.
"""
import sys

import harness
from exactly_once import aborted, all_written, expect_each_once, records_of
from harness import expect, expect_equal, wait_until

MODE = sys.argv[1] if len(sys.argv) > 1 else "none"
PARTITIONS, KEYS = 4, 200
SMALL, LARGE = 12000, 40  # records; the large ones must wait for the last service
RATE = 1500  # of the small ones, a second


def options(limit, instance=None):
    client = {"message.max.bytes": limit} if limit else {}
    kafka = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}
    if instance:
        kafka["group.instance.id"] = instance
    return {"kafka": kafka, "handler": {"simulate": None, "produce": {"topic": "{topic}-out", "transactional": True,
                                                                      "kafka": client}},
            "lanes": {"order": "key" if MODE == "key" else "none", "queue": 2000, "workers": 16,
                      "max_incomplete": 100000},
            "retry": {"max_backoff": "1s"}, "commit": {"interval": "100ms"}}


def scenario(run):
    run.create(PARTITIONS)
    run.create(PARTITIONS + 3, topic=run.topic + "-out")
    restricted = options(limit=50000, instance="a")
    run.produce_meanwhile("--count", LARGE, "--rate", 8, "--size", 60000, "--keys", KEYS, "--header", "large")
    run.produce_meanwhile("--count", SMALL // 4, "--rate", RATE, "--keys", KEYS, "--header", "number")
    first = run.service("first", **restricted)
    run.wait_for_progress(first, SMALL // 6)
    first.kill()
    run.produce_meanwhile("--count", SMALL // 4, "--rate", RATE, "--keys", KEYS, "--header", "more")
    again = run.service("again", **restricted)
    run.wait_for_progress(again, SMALL // 6)
    second = run.service("second", **options(limit=50000))
    wait_until("the second has partitions", lambda: second.events("lane assigned"))
    run.produce_meanwhile("--count", SMALL // 2, "--rate", RATE, "--keys", KEYS, "--header", "later")
    run.wait_for_progress(second, SMALL // 20)
    second.kill()
    run.finish_writing()
    third = run.service("third", **options(limit=50000))
    wait_until("the third has partitions", lambda: third.events("lane assigned"))
    third.stop()
    check_holding(run)
    again.stop()
    last = run.service("last", **options(limit=None, instance="a"))
    run.wait_for_no_lag()
    last.stop()
    compare(run)


def check_holding(run):
    """The prefix ends at the first large record of each partition, so all that is finished is in the maps."""
    lag = sum(end - max(0, run.committed().get(key, 0)) for key, (low, end) in run.watermarks().items())
    expect(lag >= LARGE, f"records that cannot be written were committed: lag {lag}")


def compare(run):
    before, after = records_of(run, run.topic), all_written(run, SMALL + LARGE)
    expect_equal(KEYS, len(before), "keys that were read")
    expect_each_once(before, after, SMALL + LARGE)
    if MODE == "key":
        expect_equal(before, after, "order of the records of each key")
    print(f"{SMALL + LARGE} records, each once; {aborted(run)} transactions done again")


if __name__ == "__main__":
    harness.main(f"produce-transactional-{MODE}", scenario)
