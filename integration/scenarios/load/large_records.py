"""Records near a megabyte, faster than they are processed: memory keeps to lanes.memory, and each passes, though it is
larger than a lane's share."""
import harness
from harness import Promises, expect_equal

PARTITIONS, RECORDS, SIZE = 8, 120, 900_000
BUDGET = 32  # MiB


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    run.produce("--count", RECORDS, "--size", SIZE)
    service = run.service("service", lanes={"memory": f"{BUDGET}MiB", "workers": 2, "queue": 64},
                          handler={"simulate": {"sleep": "100ms"}})
    run.wait_for_no_lag()
    peak = service.expect_memory_within(BUDGET)
    service.stop()
    print(f"at the most {peak:.0f} MiB for {RECORDS * SIZE / 2**20:.0f} MiB of records")
    expect_equal(RECORDS, run.judge(Promises(stopped_clean=True))["processed"], "processed records")


if __name__ == "__main__":
    harness.main("large-records", scenario)
