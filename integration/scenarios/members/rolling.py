"""A member joins while another drains for its stop, as in a rolling restart: every record is done once.
usage: rolling.py range|cooperative-sticky"""
import contextlib
import signal
import sys

import harness
from harness import PATIENCE, Failed, Promises, expect, expect_equal, wait_until
from web_service import Gate

STRATEGY = sys.argv[1] if len(sys.argv) > 1 else "range"
PARTITIONS, WORKERS, RECORDS = 4, 2, 32
TOO_EARLY = 5  # s in which the second member, if it had partitions too early, would begin with what the first is at work on


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    gate = Gate(keeps=range(PARTITIONS))
    options = {"kafka": {"partition.assignment.strategy": STRATEGY, "heartbeat.interval.ms": 500},
               "handler": {"simulate": None, "http": {"url": gate.url(), "timeout": "300s"}},
               "lanes": {"workers": WORKERS, "drain": "100s", "drain_queued": "return"}}
    first = run.service("first", **options)
    run.produce("--count", RECORDS)
    wait_until("all workers of the first member are at work", lambda: gate.kept == PARTITIONS * WORKERS)
    first.signal(signal.SIGTERM)
    second = run.service("second", **options)
    wait_until("the group takes partitions from the first member", lambda: first.events("partitions revoked"))
    with contextlib.suppress(Failed):
        wait_until("the second member is at work", lambda: gate.kept > PARTITIONS * WORKERS, TOO_EARLY)
    expect(first.running(), "the first member did not wait for its records")
    gate.opened.set()
    expect_equal(0, first.wait(PATIENCE), "exit code of the first member")
    run.wait_for_no_lag()
    second.stop()
    expect_equal(RECORDS, first.processed() + second.processed(), "records that were done")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main(f"rolling-{STRATEGY}", scenario)
