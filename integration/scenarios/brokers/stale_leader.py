"""A broker was stopped by SIGSTOP and replaced. It wakes while the brokers that replaced it are silent, and answers by its old log.

The client asks who leads. Up to 2.0 it believes the stale leader, fetches behind the end of its log, is told that the offset is out
of range, and goes back to the log's start; no lane may follow it. Newer clients compare leader epochs, and do not believe the answer.
"""
import contextlib
import os
import re
import signal

import harness
import wire
from harness import Promises, expect_equal, wait_until

STALE = 2  # a third of the partitions is led by it


class Nodes:
    """Their processes. Those that are stopped at the end go on: other scenarios use the cluster, too."""

    def __init__(self, run):
        self.pids = {int(node): int(pid) for node, pid in re.findall(r"node (\d+) .* pid (\d+)", run.kafka("status"))}

    def others(self):
        return [node for node in self.pids if node != STALE]

    def signal(self, number, nodes):
        for node in nodes:
            os.kill(self.pids[node], number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGCONT, self.pids)


def stop_leader(run, nodes):
    """Others lead, and far more is committed than the stopped leader has."""
    addresses = run.admin_bootstrap.split(",")
    del addresses[STALE - 1]
    nodes.signal(signal.SIGSTOP, [STALE])
    run.admin_bootstrap = ",".join(addresses)
    wait_until("others lead", lambda: all(place.leader not in (STALE, -1)
                                          for place in wire.partitions_of(addresses[0], [run.topic]).values()))
    run.produce("--count", 6000)
    run.wait_for_no_lag()


def wake_leader(run, nodes, service):
    """Nobody tells it that it was replaced, until the client has heard it."""
    everywhere = run.bootstrap
    nodes.signal(signal.SIGSTOP, nodes.others())
    nodes.signal(signal.SIGCONT, [STALE])
    wait_until("the client has believed the answer and gone back, or has not believed it",
               lambda: "went back" in service.log or "ignoring outdated metadata update" in service.log)
    nodes.signal(signal.SIGCONT, nodes.others())
    run.admin_bootstrap = everywhere


def scenario(run):
    run.create(6)
    run.watch_commits()
    # A coordinator that hangs is left before the session ends.
    service = run.service("service", log={"level": "debug"},
                          kafka={"topic.metadata.refresh.interval.ms": 500, "socket.timeout.ms": 10000, "debug": "topic"})
    run.produce("--count", 3000)
    run.wait_for_no_lag()
    with Nodes(run) as nodes:
        stop_leader(run, nodes)
        before = run.committed()
        wake_leader(run, nodes, service)
    wait_until("each lane that was led back has found its position",
               lambda: len(service.events("position found")) >= len(service.events("partition error")))
    expect_equal(before, run.committed(), "committed offsets")
    run.produce("--count", 600)
    run.wait_for_no_lag()
    expect_equal([], service.events("offsets went back"), "lanes that started over")
    service.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("stale-leader", scenario, nodes=3)
