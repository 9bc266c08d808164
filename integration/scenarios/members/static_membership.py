"""Static members: a restart within the session moves no partition. A second process of the same name ends the first where the members
distribute the partitions; where the brokers do (consumer), it waits for the name, as a process does that follows a kill."""
import json

import harness
from harness import Promises, expect, expect_equal, wait_until

BY_BROKERS = harness.GROUP_PROTOCOL == "consumer"
SESSION = 10000 if BY_BROKERS else 30000  # ms; after a kill the name is kept for so long
WAITS = "another member still has this group.instance.id"


def partitions(run):
    """{client id: its partitions} of a stable group."""
    group = run.members()
    if group["state"] != "Stable":
        return None
    return {member["client"]: sorted(partition for _, partition in member["partitions"]) for member in group["members"]}


def member(run, name, instance):
    return run.service(name, kafka={"group.instance.id": instance, "client.id": instance, "session.timeout.ms": SESSION},
                       handler={"simulate": {"sleep": "3ms"}})


def scenario(run):
    run.create(4)
    run.watch_commits()
    kept, restarted = member(run, "kept", "a"), member(run, "restarted", "b")
    before = wait_until("both have partitions",
                        lambda: (both := partitions(run)) and [len(own) for own in both.values()] == [2, 2] and both)
    wait_until("the one that stays has taken up its partitions",
               lambda: len(json.loads(kept.get("/status"))["lanes"]) == 2)
    run.produce_meanwhile("--rate", 500)
    run.wait_for_progress(restarted, 500)
    assigned = len(kept.events("lane assigned"))
    restarted.stop()
    again = member(run, "again", "b")
    run.wait_for_progress(again, 500)
    wait_until("the assignment is what it was", lambda: partitions(run) == before)
    expect_equal(assigned, len(kept.events("lane assigned")), "assignments of the member that stayed")
    last, promises = after_a_kill(run, again) if BY_BROKERS else (again, Promises(stopped_clean=True))
    run.finish_writing()
    run.wait_for_no_lag()
    usurper = member(run, "usurper", "b")
    if BY_BROKERS:
        waits_for_the_name(run, usurper, last)
    else:
        expect_equal(70, last.wait(harness.PATIENCE), "exit code of a member whose name another process took")
        expect("fenced" in last.log.lower(), "the log does not say that the member was fenced")
    kept.stop()
    usurper.stop()
    run.judge(promises)


def after_a_kill(run, killed):
    """The process that comes next waits until the session of the one that was killed has ended. Records that were finished and
    not committed at the kill may run twice."""
    settled = killed.settled(lambda: False)
    killed.kill()
    follower = member(run, "follower", "b")
    wait_until("the follower says what it waits for", lambda: WAITS in follower.log)
    run.wait_for_progress(follower, 200)
    expect(follower.running(), "the follower has ended")
    return follower, Promises(stopped_clean=True, duplicates=killed.successes_since(settled), settled=settled)


def waits_for_the_name(run, usurper, owner):
    wait_until("the second process of that name says what it waits for", lambda: WAITS in usurper.log)
    expect("has not received its partitions" in usurper.readiness(), "the second process calls itself ready")
    done = owner.processed()
    run.produce("--count", 400)
    wait_until("the owner of the name goes on", lambda: owner.processed() > done)
    run.wait_for_no_lag()
    owner.stop()
    run.produce("--count", 400)
    run.wait_for_progress(usurper, 1)
    run.wait_for_no_lag()


if __name__ == "__main__":
    harness.main("static-membership", scenario)
