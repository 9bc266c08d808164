"""What a member says that it owns while an assignment is on its way: early_heartbeat.py begun|withdrawn. For group.protocol: consumer.

begun      A heartbeat of a member that has just been told its first assignment is on its way while the member begins to work, and
           arrives when another member has joined: the partitions change hands only when the first member has drained. If the client
           left out what it has been told, the coordinator would give that to the other member at once, and both would work on it.
withdrawn  A member is told partitions, and before it knows the topic's name a part of them is given to another member: that one gets
           them at once. If nothing said that the first member has not got them, nobody would have them for minutes.
"""
import json
import sys

import harness
import frames
from harness import Promises, wait_until
from proxy import Proxy

STORY = sys.argv[1] if len(sys.argv) > 1 else "begun"
PARTITIONS = 4
HEARTBEAT = 68  # ConsumerGroupHeartbeat
SLOW = {"simulate": {"sleep": "100ms"}}  # a drain takes seconds: the other member would begin meanwhile


def lanes(service):
    return len(json.loads(service.get("/status"))["lanes"])


def caught(rule, what):
    wait_until(what, lambda: rule.caught)


def begun(run):
    run.create(PARTITIONS)
    run.watch_commits()
    run.produce_meanwhile("--rate", 400)
    with Proxy(run.bootstrap) as proxy:
        told = proxy.hold(HEARTBEAT, answers=True, times=1, client="first")
        first = run.service("first", kafka={"client.id": "first", "bootstrap.servers": proxy.bootstrap()}, handler=SLOW)
        caught(told, "the coordinator has told the first member its assignment")
        # The client asks for the names of the topics, and sends its next heartbeat before it knows them.
        names = proxy.hold(frames.METADATA, answers=True, client="first")
        early = proxy.hold(HEARTBEAT, times=1, client="first")
        proxy.release(told)
        caught(early, "the first member has sent a heartbeat")
        caught(names, "the first member has asked for names")
        proxy.release(names)
        run.wait_for_progress(first, 100)
        second = run.service("second", kafka={"client.id": "second"})
        wait_until("the second member has joined", lambda: len(run.members()["members"]) == 2)
        proxy.release(early)
        wait_until("the second member has its share", lambda: lanes(second) == PARTITIONS // 2)
        run.wait_for_progress(second, 100)
        run.finish_writing()
        run.wait_for_no_lag()
        first.stop()
    second.stop()
    run.judge(Promises(stopped_clean=True))


def member(run, name, **kafka):
    """Of two, whose partitions the brokers share out in the order of their names."""
    kafka.update({"client.id": name, "group.instance.id": name, "group.remote.assignor": "range"})
    return run.service(name, kafka=kafka)


def withdrawn(run):
    run.create(2)
    with Proxy(run.bootstrap) as proxy:
        told = proxy.hold(HEARTBEAT, answers=True, times=1, client="first")
        first = member(run, "first", **{"bootstrap.servers": proxy.bootstrap()})
        caught(told, "the coordinator has told the first member its assignment")
        names = proxy.hold(frames.METADATA, answers=True, client="first")
        proxy.release(told)
        caught(names, "the first member has asked for the topic's name")
        second = member(run, "second")
        wait_until("the second member has its share", lambda: lanes(second) == 1)
        proxy.release(names)
        wait_until("the first member has its share", lambda: lanes(first) == 1)
        run.produce("--count", 200)
        run.wait_for_no_lag()
        first.stop()
    second.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("early-heartbeat", {"begun": begun, "withdrawn": withdrawn}[STORY])
