"""A member for which the group has no partition is ready, with an empty assignment: from its start, and after it has lost its partitions.
A spare member that stops leaves the group at once. When the other member stops, the spare one has the partition."""
import json
import signal
import sys

import harness
import wire
from harness import Promises, expect, expect_equal, wait_until

STRATEGY = sys.argv[1] if len(sys.argv) > 1 else "range"
BY_BROKERS = harness.GROUP_PROTOCOL == "consumer"


def member(run, name):
    strategy = {} if BY_BROKERS else {"partition.assignment.strategy": STRATEGY}
    return run.service(name, kafka={"client.id": name, "session.timeout.ms": 10000, **strategy})


def lanes(service):
    return len(json.loads(service.get("/status"))["lanes"])


def wait_until_spare(service):
    wait_until(f"{service.name} has an empty assignment", lambda: service.metric("members", assignment="empty") == 1)
    expect_equal(0, service.metric("members", assignment="none"), "members without an assignment")
    wait_until(f"{service.name} is ready", lambda: '"ready":true' in service.readiness("/readyz?format=json"))
    expect_equal(0, lanes(service), "lanes of the spare member")


def leaves_at_once(run, service):
    """The group would distribute no partition to a new member while it waits for the heartbeats of one that has gone."""
    service.stop()
    still = [one["client"] for one in run.members()["members"]]
    expect(service.name not in still, f"{service.name} has stopped and is still a member of the group: {still}")


def expelled(run, service, spare):
    """It loses its partition to the spare member, and is the spare one then. Until the other one has the partition, it does not hear that
    it was expelled: it would have joined again before. Nothing is at work meanwhile."""
    service.signal(signal.SIGSTOP)
    member_id = next(one["member"] for one in run.members()["members"] if one["client"] == service.name)
    wire.leave_consumers(run.admin_bootstrap, run.group, member_id)
    wait_until("the spare member has the partition", lambda: lanes(spare) == 1)
    service.signal(signal.SIGCONT)
    wait_until("the member has lost its partition", lambda: service.events("partitions lost"))


def scenario(run):
    run.create(1)
    run.watch_commits()
    first = member(run, "first")
    run.produce("--count", 200)
    run.wait_for_no_lag()
    second = member(run, "second")
    wait_until_spare(second)
    if BY_BROKERS:
        expelled(run, first, second)
        wait_until_spare(first)
        expect("lane_state{" not in first.get("/metrics"), "the metrics of the spare member still have the lane that it lost")
        run.produce("--count", 200)
        run.wait_for_no_lag()
        first, second = second, first
    third = member(run, "third")
    wait_until_spare(third)
    leaves_at_once(run, third)
    first.stop()
    run.produce("--count", 200)
    run.wait_for_no_lag()
    expect(second.processed() >= 200, "the spare member has not done the records")
    second.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("spare", scenario)
