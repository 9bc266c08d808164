"""Records come and are processed; at the end nothing is left, nothing ran twice, the metrics agree with the journal."""
import harness
from harness import Promises, expect, expect_equal

RECORDS = 30000


def scenario(run):
    run.create(6)
    run.watch_commits()
    service = run.service("steady", consumers=2)
    run.produce("--count", RECORDS, "--size", 200, "--rate", 4000)
    run.wait_for_no_lag()
    expect_equal(RECORDS, service.metric("pool_jobs_total", outcome="success"), "laneway_pool_jobs_total")
    expect_equal(0, service.metric("lane_lag_records"), "laneway_lane_lag_records")
    service.get("/livez")  # fails on any answer but 200
    service.stop()
    report = run.judge(Promises(stopped_clean=True))
    expect_equal(RECORDS, report["processed"], "processed records")
    expect(report["commits_seen"] > 3, "the oracle saw too few commits to say anything about their order")


if __name__ == "__main__":
    harness.main("steady", scenario)
