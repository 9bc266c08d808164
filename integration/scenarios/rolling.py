"""A member joins while another drains for its stop, as in a rolling restart: every record is done once.
usage: rolling.py range|cooperative-sticky"""
import signal
import sys

import harness
from harness import Promises, expect, wait_until

STRATEGY = sys.argv[1] if len(sys.argv) > 1 else "range"
RECORDS = 32


def scenario(run):
    run.create(4)
    run.watch_commits()
    # What is at work at the stop outlasts the heartbeat by which the first member hears of the second.
    options = {"kafka": {"partition.assignment.strategy": STRATEGY, "heartbeat.interval.ms": "500"},
               "handler": {"simulate": {"sleep": "6s"}}, "lanes": {"workers": 2, "drain_queued": "return"}}
    first = run.service("first", **options)
    run.produce("--count", RECORDS, "--size", 100)
    wait_until("the first records are done", lambda: first.processed() >= 4)
    first.signal(signal.SIGTERM)
    second = run.service("second", **options)
    expect(first.wait(within=60) == 0, "the first member did not stop cleanly")
    expect(list(first.events("partitions revoked")), "no rebalance came during the drain: this was no overlap")
    run.wait_for_no_lag()
    second.stop()
    done = first.processed() + second.processed()
    expect(done == RECORDS, f"{RECORDS} records were done {done} times")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main(f"rolling-{STRATEGY}", scenario)
