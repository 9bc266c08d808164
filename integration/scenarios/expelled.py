"""A member that was expelled from its group is told to stop while it joins the group again: it leaves the group, so the other member
has all partitions at once. The sessions last five minutes: nobody would get the partitions of a member that goes without a word."""
import contextlib
import signal
import sys

import harness
from harness import PATIENCE, ROOT, Failed, Promises, expect_equal, wait_until
from web_service import Gate

sys.path.append(str(ROOT / "integration" / "faults"))
import wire  # noqa: E402

RECORDS = 40
JOIN = 8  # s that the join lasts after the SIGTERM: longer than a member waits for the answer to its leave


def partitions(run):
    """{client id: its partitions}; nothing where the group is not stable, or somebody has none."""
    group = run.members()
    shares = {member["client"]: {partition for _, partition in member["partitions"]} for member in group["members"]}
    return shares if group["state"] == "Stable" and all(shares.values()) else None


def expel(run, client):
    """Returns when this client has joined anew; the join is under way then."""
    before = {member["client"]: member["member"] for member in run.members()["members"]}
    wire.leave(run.admin_bootstrap, run.group, before[client])
    wait_until(f"{client} joins the group again", lambda: any(
        member["client"] == client and member["member"] != before[client] for member in run.members()["members"]))


def scenario(run):
    run.create(4)
    run.watch_commits()
    gate = Gate()

    def member(name):
        return run.service(name, kafka={"client.id": name, "session.timeout.ms": 300000, "heartbeat.interval.ms": 500},
                           handler={"simulate": None, "http": {"url": gate.url(), "timeout": "300s"}},
                           lanes={"workers": 1, "drain": "100s", "drain_queued": "return"})

    first, second = member("first"), member("second")
    shares = wait_until("both have partitions", lambda: (found := partitions(run)) and len(found) == 2 and found)
    gate.keeps = shares["second"]
    run.produce("--count", RECORDS)
    wait_until("the second member is at work", lambda: gate.kept > 0)
    ends = {partition: end for (_, partition), (_, end) in run.watermarks().items() if partition in shares["first"]}
    wait_until("the first member has committed all of its records",
               lambda: all(run.committed().get((run.topic, partition), 0) == end for partition, end in ends.items()))
    # The second member drains, so the join waits for it; the broker reads nothing of the first member behind its request to join.
    expel(run, "first")
    wait_until("the first member has lost its partitions", lambda: first.events("partitions lost"))
    first.signal(signal.SIGTERM)
    run.produce("--count", RECORDS)
    with contextlib.suppress(Failed):  # it waits until the join has ended
        first.wait(JOIN)
    gate.opened.set()
    expect_equal(0, first.wait(PATIENCE), "exit code of the first member")
    run.wait_for_no_lag()
    expect_equal({"second": {0, 1, 2, 3}}, partitions(run), "the members of the group")
    second.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("expelled", scenario)
