"""Retention overtakes a service that was stopped: deleted records are logged as a gap, the remaining records are processed."""
import harness
from harness import Promises, expect, expect_equal, wait_until

RECORDS = 6000
GONE = 2500  # first offset that is left


def scenario(run):
    run.create(2)
    run.produce("--count", RECORDS // 2)  # of a partition fewer than GONE, so that it stops below however late it is told
    options = {"handler": {"simulate": {"sleep": "5ms"}}, "lanes": {"workers": 4}}
    first = run.service("first", **options)
    run.wait_for_progress(first, RECORDS // 6)
    wait_until("some of each partition is committed", lambda: len(run.committed()) == 2)
    first.stop()
    committed = run.committed()
    run.produce("--count", RECORDS // 2)
    for partition in range(2):
        expect(0 < committed.get((run.topic, partition), 0) < GONE, "the first process stopped at no fitting offset")
        run.tool("delete-records", run.topic, partition, GONE)
    second = run.service("second", **options)
    run.wait_for_no_lag()
    for partition in range(2):
        told = [line for line in second.log.splitlines()
                if "gap" in line and f"partition={partition}" in line and str(GONE) in line]
        expect(told, f"the log does not tell of the gap up to {GONE} in partition {partition}")
    second.stop()
    report = run.judge(Promises(stopped_clean=True, log_shrinks=True))
    expect_equal(2 * (RECORDS // 2 - GONE), report["visible"], "records left in the log")


if __name__ == "__main__":
    harness.main("retention", scenario)
