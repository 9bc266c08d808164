"""Partitions are added while a member drains for another one, under cooperative-sticky: the group goes on, and lets a third one in.
Where the brokers distribute the partitions they wait for the drain all the same, and nobody starts over."""
import harness
from harness import Promises, expect, expect_equal, wait_until
from web_service import Gate

PARTITIONS, ADDED, WORKERS, RECORDS = 4, 6, 2, 32
OVERTAKEN = "starting over to take part in rebalances again"
PATIENCE = 60  # s; a group that waits for a member that never joins does so for max.poll.interval.ms, which is 5 minutes


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    gate = Gate(keeps=range(PARTITIONS))
    options = {"kafka": {"partition.assignment.strategy": "cooperative-sticky", "heartbeat.interval.ms": 500,
                         "topic.metadata.refresh.interval.ms": 500},
               "handler": {"simulate": None, "http": {"url": gate.url(), "timeout": "300s"}},
               "lanes": {"workers": WORKERS, "drain": "100s", "drain_queued": "return"}}
    first = run.service("first", **options)
    run.produce("--count", RECORDS)
    wait_until("all workers of the first member are at work", lambda: gate.kept == PARTITIONS * WORKERS)
    second = run.service("second", **options)
    wait_until("the group takes partitions from the first member", lambda: first.events("partitions revoked"))
    run.tool("add-partitions", run.topic, ADDED)
    wait_until("the first member sees the new partitions", lambda: "partition count changed" in first.log)
    gate.opened.set()
    run.wait_for_no_lag()
    third = run.service("third", **options)
    wait_until("the third member has partitions", lambda: third.events("lane assigned"), PATIENCE)
    run.produce("--count", RECORDS)
    run.wait_for_no_lag()
    overtaken = 0 if harness.GROUP_PROTOCOL == "consumer" else 1
    expect_equal(overtaken, len(first.events(OVERTAKEN)), "times that the first member started over")
    for service in (first, second, third):
        expect(service.running(), "a member has ended")
        service.stop()
    # A classic client does not wait for the drain. Records that were running when it joined end in the middle of the join, when
    # nothing can be committed, and its partitions may be the second member's afterwards.
    run.judge(Promises(stopped_clean=True, duplicates=overtaken * PARTITIONS * WORKERS))


if __name__ == "__main__":
    harness.main("added-while-draining", scenario)
