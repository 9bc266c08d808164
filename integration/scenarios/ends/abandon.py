"""Records that hang at a drain are abandoned at its deadline, or at once on a second SIGTERM: exit 75, each offset logged.

They are not committed, so that the next process runs them.
"""
import re
import signal

import harness
from harness import Promises, expect, expect_equal, wait_until

RECORDS = 4000
HANGING = 1  # partition


def abandoned(service):
    return {(int(re.search(r"partition=(\d+)", line)[1]), int(re.search(r"offset=(\d+)", line)[1]))
            for line in service.events("abandoned")}


def check(run, service):
    given_up = abandoned(service)
    expect(given_up, "no abandoned record was logged")
    expect_equal({HANGING}, {partition for partition, _ in given_up}, "partitions of abandoned records")
    committed = run.committed().get((run.topic, HANGING), 0)
    expect(min(offset for _, offset in given_up) >= committed, f"an abandoned record is below {committed}, committed")


def asked_again(service):
    """Two signals at once are one wish, so it takes as many as it takes."""
    service.signal(signal.SIGTERM)
    return service.events("drain cut short")


def scenario(run):
    run.create(3)
    run.produce("--count", RECORDS)
    run.watch_commits()
    hanging = {"simulate": {"sleep": "2ms", "hang_partitions": [HANGING], "timeout": "10m"}}
    first = run.service("first", handler=hanging, lanes={"drain": "2s", "workers": 4})
    run.wait_for_progress(first, 500)
    first.stop(75)
    check(run, first)
    run.produce("--count", RECORDS)  # there is something left, however late the stop was

    second = run.service("second", handler=hanging, lanes={"drain": "10m", "workers": 4}, kafka={"max.poll.interval.ms": 1200000})
    run.wait_for_progress(second, 100)
    second.signal(signal.SIGTERM)
    wait_until("only what hangs is left", lambda: second.events("stopping") and all(
        second.metric(name, partition=partition) == 0
        for partition in range(3) if partition != HANGING for name in ("pool_inflight", "pool_queue_depth")))
    expect(second.running(), "the drain did not wait for what hangs")
    wait_until("a second SIGTERM is taken for a second wish", lambda: asked_again(second))
    expect_equal(75, second.wait(harness.PATIENCE), "exit code after a second SIGTERM, long before the drain deadline")
    check(run, second)

    third = run.service("third")
    run.wait_for_no_lag()
    third.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("abandon", scenario)
