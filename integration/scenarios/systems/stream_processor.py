"""The stream processor (config/examples/stream-processor.yaml): two partitions get more than their workers can do, work fails now
and then, members join and leave, and one is killed. The busy lanes hold, the others go on, and nothing is lost.
"""
import harness
from harness import Promises, expect, wait_until

CONFIG = "config/examples/stream-processor.yaml"
PARTITIONS, BUSY = 16, (3, 12)
RATE, BUSY_RECORDS = 500, 8_000  # a second to all; at once to the busy ones
ENOUGH = 300  # records of a member that works


def done_by_quiet_lanes(service):
    """How many records of the partitions with little load it has done, from its journal."""
    count = 0
    for line in service.journal.read_text().splitlines():
        count += '"outcome":"success"' in line and not any(f'"partition":{busy},' in line for busy in BUSY)
    return count


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    run.produce_meanwhile("--rate", RATE)
    failing = {"handler__simulate__fail": 0.01, "retry__backoff": "100ms"}
    first = run.example("first", CONFIG, **failing)
    run.wait_for_progress(first, ENOUGH)  # before its first commit a lane holds for that one
    run.produce("--count", BUSY_RECORDS, "--partitions", ",".join(map(str, BUSY)))
    wait_until("the pools of the busy lanes have rejected records", lambda: all(
        first.metric("pool_rejections_total", partition=busy) > 0 < first.metric("lane_holds_total", partition=busy) for busy in BUSY))
    before = done_by_quiet_lanes(first)
    wait_until("the other lanes go on meanwhile", lambda: done_by_quiet_lanes(first) > before + ENOUGH)
    second = run.example("second", CONFIG, **failing)
    run.wait_for_progress(second, ENOUGH)
    second.stop()
    third = run.example("third", CONFIG, **failing)
    run.wait_for_progress(third, ENOUGH)
    settled = third.settled(run.has_no_lag)
    third.kill()
    run.finish_writing()
    run.wait_for_no_lag()
    first.stop()
    report = run.judge(Promises(stopped_clean=True, duplicates=third.successes_since(settled), settled=settled))
    expect(report["attempts"] > report["processed"], "no attempt failed: this shows nothing about retries")


if __name__ == "__main__":
    harness.main("stream-processor", scenario)
