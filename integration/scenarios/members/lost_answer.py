"""Answers to the heartbeats of a member are lost, among them those with its new assignment: it hears of the assignment all the same, gives
partitions up for another member, and takes them back when that one goes, without being fenced. For group.protocol: consumer."""
import json

import harness
from harness import Promises, expect, wait_until
from proxy import Proxy

PARTITIONS = 4
HEARTBEAT = 68  # ConsumerGroupHeartbeat


def members(run):
    return {member["client"] for member in run.members()["members"]}


def lose_answers(rule):
    """So many that the coordinator has told the new assignment in one of them: it may wait for a second before it makes one."""
    before = len(rule.caught)
    wait_until("answers to heartbeats are lost", lambda: len(rule.caught) >= before + 4)


def lanes(service):
    return len(json.loads(service.get("/status"))["lanes"])


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    with Proxy(run.bootstrap) as proxy:
        # A lost answer costs a connection; the next one is made at once.
        first = run.service("first", kafka={"client.id": "first", "bootstrap.servers": proxy.bootstrap(),
                                            "socket.timeout.ms": 4000, "reconnect.backoff.max.ms": 200})
        run.produce_meanwhile("--rate", 200)
        run.wait_for_progress(first, 100)
        with_less = proxy.drop(HEARTBEAT, answers=True, client="first")
        second = run.service("second", kafka={"client.id": "second"})
        wait_until("the second member has joined", lambda: members(run) == {"first", "second"})
        lose_answers(with_less)
        proxy.release(with_less)
        wait_until("the second member has its share", lambda: lanes(second) == PARTITIONS // 2)
        with_more = proxy.drop(HEARTBEAT, answers=True, client="first")
        second.stop()
        wait_until("the second member has left", lambda: members(run) == {"first"})
        lose_answers(with_more)
        proxy.release(with_more)
        wait_until("the first member has all partitions", lambda: lanes(first) == PARTITIONS)
        run.finish_writing()
        run.wait_for_no_lag()
        first.stop()
    expect(not first.events("partitions lost"), "the first member was fenced")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("lost-answer", scenario)
