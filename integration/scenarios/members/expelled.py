"""A member that was expelled from its group must stop while it joins the group again: it leaves the group, so the other member
has all partitions at once. The sessions last five minutes: nobody would get the partitions of a member that goes without a word.

Where the brokers distribute the partitions (consumer), the member has joined again at once, and waits for the partitions that the other
one does not give up yet.
"""
import contextlib
import json
import signal

import harness
import wire
from harness import PATIENCE, Failed, Promises, expect_equal, wait_until
from web_service import Gate

BY_BROKERS = harness.GROUP_PROTOCOL == "consumer"
PARTITIONS, RECORDS = 4, 40
JOIN = 8  # s that the join lasts after the SIGTERM: longer than a member waits for the answer to its leave


def partitions(run):
    """{client id: its partitions}; nothing where the group is not stable, or somebody has none."""
    group = run.members()
    shares = {member["client"]: {partition for _, partition in member["partitions"]} for member in group["members"]}
    return shares if group["state"] == "Stable" and all(shares.values()) else None


def expel(run, client):
    members = {member["client"]: member["member"] for member in run.members()["members"]}
    (wire.leave_consumers if BY_BROKERS else wire.leave)(run.admin_bootstrap, run.group, members[client])


def wait_until_joined(run, client):
    wait_until(f"{client} joins the group again", lambda: any(member["client"] == client for member in run.members()["members"]))


def lanes(service):
    return len(json.loads(service.get("/status"))["lanes"])


def member(run, gate, name):
    return run.service(name, kafka={"client.id": name, "session.timeout.ms": 300000, "heartbeat.interval.ms": 500},
                       handler={"simulate": None, "http": {"url": gate.url(), "timeout": "300s"}},
                       lanes={"workers": 1, "drain": "100s", "drain_queued": "return"})


def two_members(run):
    """With their partitions, by client id, and the gate that lets their records pass."""
    run.create(PARTITIONS)
    run.watch_commits()
    gate = Gate()
    first, second = member(run, gate, "first"), member(run, gate, "second")
    shares = wait_until("both have partitions", lambda: (found := partitions(run)) and len(found) == 2 and found)
    return gate, first, second, shares


def told_in_a_join(run):
    gate, first, second, shares = two_members(run)
    gate.keeps = shares["second"]
    run.produce("--count", RECORDS)
    wait_until("the second member is at work", lambda: gate.kept > 0)
    ends = {partition: end for (_, partition), (_, end) in run.watermarks().items() if partition in shares["first"]}
    wait_until("the first member has committed all of its records",
               lambda: all(run.committed().get((run.topic, partition), 0) == end for partition, end in ends.items()))
    # The second member drains, so the join waits for it; the broker reads nothing of the first member behind its request to join.
    expel(run, "first")
    wait_until_joined(run, "first")
    wait_until("the first member has lost its partitions", lambda: first.events("partitions lost"))
    first.signal(signal.SIGTERM)
    run.produce("--count", RECORDS)
    with contextlib.suppress(Failed):  # it waits until the join has ended
        first.wait(JOIN)
    gate.opened.set()
    expect_equal(0, first.wait(PATIENCE), "exit code of the first member")
    run.wait_for_no_lag()
    expect_equal({"second": set(range(PARTITIONS))}, partitions(run), "the members of the group")
    second.stop()
    run.judge(Promises(stopped_clean=True))


def told_while_it_waits(run):
    gate, first, second, _ = two_members(run)
    gate.keeps = set(range(PARTITIONS))
    # It hears that it was expelled when the second member has all partitions, each with a record at work.
    first.signal(signal.SIGSTOP)
    expel(run, "first")
    wait_until("the second member has all partitions", lambda: lanes(second) == PARTITIONS)
    run.produce("--count", RECORDS)
    wait_until("the second member is at work in each", lambda: gate.kept == PARTITIONS)
    first.signal(signal.SIGCONT)
    wait_until("the first member has lost its partitions", lambda: first.events("partitions lost"))
    wait_until_joined(run, "first")
    wait_until("the second member is to give partitions up", lambda: second.events("partitions revoked"))
    first.signal(signal.SIGTERM)
    expect_equal(0, first.wait(PATIENCE), "exit code of the first member")
    wait_until("the second member is the only one", lambda: [member["client"] for member in run.members()["members"]] == ["second"])
    gate.opened.set()
    run.wait_for_no_lag()
    expect_equal({"second": set(range(PARTITIONS))}, partitions(run), "the members of the group")
    second.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("expelled", told_while_it_waits if BY_BROKERS else told_in_a_join)
