"""Members join and leave under load, while records wait for their next attempt. usage: rebalance.py range|cooperative-sticky"""
import sys

import harness
from harness import Promises, expect, wait_until

STRATEGY = sys.argv[1] if len(sys.argv) > 1 else "range"


def scenario(run):
    run.create(8)
    run.watch_commits()
    options = {"kafka": {"partition.assignment.strategy": STRATEGY},
               "handler": {"simulate": {"sleep": "10ms", "fail": 0.02}},
               "retry": {"backoff": "2s", "max_backoff": "2s"}}

    def members(count):
        wait_until(f"the group has {count} members", lambda: (
            (group := run.members())["state"] == "Stable" and len(group["members"]) == count))

    first = run.service("first", **options)
    run.produce_meanwhile("--rate", 800, "--size", 100)
    run.wait_for_progress(first, 400)
    second = run.service("second", **options)
    run.wait_for_progress(second, 400)
    members(2)
    third = run.service("third", **options)
    run.wait_for_progress(third, 400)
    members(3)
    second.stop()
    members(2)
    before = first.processed(), third.processed()
    wait_until("the remaining members go on", lambda: first.processed() > before[0] and third.processed() > before[1])
    run.finish_writing()
    run.wait_for_no_lag()
    third.stop()
    first.stop()
    # Nobody crashed, so nobody may lose an assignment: a commit at the wrong moment of a join costs it.
    for member in (first, second, third):
        expect(not list(member.events("partitions lost")), f"{member.name} lost its partitions")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main(f"rebalance-{STRATEGY}", scenario)
