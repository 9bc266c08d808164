"""Answers to the heartbeats of a member are lost, among them those with its new assignment: it hears of the assignment all the same, gives
partitions up for another member, and takes them back when that one goes, without being fenced. For group.protocol: consumer."""
import json
import sys

import harness
from harness import ROOT, Promises, expect, wait_until

sys.path.append(str(ROOT / "integration" / "proxy"))
from proxy import Proxy  # noqa: E402

PARTITIONS = 4
HEARTBEAT = 68  # ConsumerGroupHeartbeat


def assigned(run):
    """{client id: how many partitions the coordinator has assigned to it}"""
    return {member["client"]: len(member["partitions"]) for member in run.members()["members"]}


def lanes(service):
    return len(json.loads(service.get("/status"))["lanes"])


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    with Proxy(run.bootstrap) as proxy:
        first = run.service("first", kafka={"client.id": "first", "bootstrap.servers": proxy.bootstrap()})
        run.produce_meanwhile("--rate", 200)
        run.wait_for_progress(first, 100)
        with_less = proxy.drop(HEARTBEAT, answers=True, client="first")
        second = run.service("second", kafka={"client.id": "second"})
        wait_until("the coordinator has told the first member to give partitions up", lambda: assigned(run).get("first") == PARTITIONS // 2)
        proxy.release(with_less)
        wait_until("the second member has its share", lambda: lanes(second) == PARTITIONS // 2)
        with_more = proxy.drop(HEARTBEAT, answers=True, client="first")
        second.stop()
        wait_until("the coordinator has given the first member all partitions", lambda: assigned(run).get("first") == PARTITIONS)
        proxy.release(with_more)
        wait_until("the first member has all partitions", lambda: lanes(first) == PARTITIONS)
        run.finish_writing()
        run.wait_for_no_lag()
        first.stop()
    expect(not first.events("partitions lost"), "the first member was fenced")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("lost-answer", scenario)
