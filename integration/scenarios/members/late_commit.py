"""The coordinator is slow: it answers no commit, nor the heartbeats behind it, for longer than a heartbeat interval. The commit is not
sent again over another connection meanwhile, where newer ones could overtake it: committed offsets only go forward. For
group.protocol: consumer."""

import harness
from harness import Promises, expect, wait_until
from offsets_topic import read_group
from proxy import Proxy

PARTITIONS = 2
COMMIT, FIND_COORDINATOR, HEARTBEAT = 8, 10, 68


def commits(run, partition):
    """The offsets in the order in which the coordinator took them."""
    taken, _ = read_group(run.tool("read", "__consumer_offsets"), run.group)
    return [commit.offset for commit in taken if commit.partition == (run.topic, partition)]


def scenario(run):
    run.create(PARTITIONS)
    with Proxy(run.bootstrap) as proxy:
        # The client waits for a late heartbeat up to a quarter of this time-out.
        kafka = {"bootstrap.servers": proxy.bootstrap(), "socket.timeout.ms": 240000}
        service = run.service("service", kafka=kafka)
        run.produce_meanwhile("--rate", 200)
        run.wait_for_progress(service, 100)
        late = proxy.stall(COMMIT, times=1)
        wait_until("a heartbeat waits behind a commit", lambda: HEARTBEAT in [request.api for request in late.caught])
        others, asked = proxy.delay(0, COMMIT), proxy.delay(0, FIND_COORDINATOR)
        run.wait_for_progress(service, service.processed() + 500)
        expect(not others.caught, "a commit went over another connection while the first one was under way")
        wait_until("the member asks whether there is another coordinator", lambda: asked.caught)
        proxy.release(late)
        wait_until("the coordinator has taken the late commit", lambda: late.answered)
        run.finish_writing()
        run.wait_for_no_lag()
        service.stop()
    for partition in range(PARTITIONS):
        offsets = commits(run, partition)
        expect(offsets == sorted(offsets), f"the committed offset of partition {partition} went back: {offsets}")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("late-commit", scenario)
