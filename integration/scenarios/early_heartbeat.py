"""A heartbeat of a member that has just been told its first assignment is on its way while the member begins to work, and arrives when
another member has joined: the partitions change hands only when the first member has drained. For group.protocol: consumer.

The client says in such a heartbeat which partitions it owns. If it leaves out what it has been told and has not confirmed, the
coordinator gives that to the other member at once, and both work on it.
"""
import json
import sys

import harness
from harness import ROOT, Promises, wait_until

sys.path.append(str(ROOT / "integration" / "proxy"))
import frames  # noqa: E402
from proxy import Proxy  # noqa: E402

PARTITIONS = 4
HEARTBEAT = 68  # ConsumerGroupHeartbeat
SLOW = {"simulate": {"sleep": "100ms"}}  # a drain takes seconds: the other member would begin meanwhile


def lanes(service):
    return len(json.loads(service.get("/status"))["lanes"])


def caught(rule, what):
    wait_until(what, lambda: rule.caught)


def scenario(run):
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


if __name__ == "__main__":
    harness.main("early-heartbeat", scenario)
