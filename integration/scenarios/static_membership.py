"""Static members: a restart within the session moves no partition; a second process of the same name ends the first."""
import json

import harness
from harness import Promises, expect, expect_equal, wait_until


def partitions(run):
    """{client id: its partitions} of a stable group."""
    group = run.members()
    if group["state"] != "Stable":
        return None
    return {member["client"]: sorted(partition for _, partition in member["partitions"]) for member in group["members"]}


def scenario(run):
    run.create(4)
    run.watch_commits()

    def member(name, instance):
        return run.service(name, kafka={"group.instance.id": instance, "client.id": instance,
                                        "session.timeout.ms": 30000}, handler={"simulate": {"sleep": "3ms"}})

    kept, restarted = member("kept", "a"), member("restarted", "b")
    before = wait_until("both have partitions",
                        lambda: (both := partitions(run)) and [len(own) for own in both.values()] == [2, 2] and both)
    wait_until("the one that stays has taken up its partitions",
               lambda: len(json.loads(kept.get("/status"))["lanes"]) == 2)
    run.produce_meanwhile("--rate", 500)
    run.wait_for_progress(restarted, 500)
    assigned = len(kept.events("lane assigned"))
    restarted.stop()
    again = member("again", "b")
    run.wait_for_progress(again, 500)
    wait_until("the assignment is what it was", lambda: partitions(run) == before)
    expect_equal(assigned, len(kept.events("lane assigned")), "assignments of the member that stayed")
    run.finish_writing()
    run.wait_for_no_lag()

    usurper = member("usurper", "b")
    expect_equal(70, again.wait(harness.PATIENCE), "exit code of a member whose name another process took")
    expect("fenced" in again.log.lower(), "the log does not say that the member was fenced")
    kept.stop()
    usurper.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("static-membership", scenario)
