"""Handlers that hang past their deadline are stopped and tried again; they hold up neither the lane nor the exit."""
import harness
from harness import Promises, expect

RECORDS = 3000


def scenario(run):
    run.create(4)
    run.produce("--count", RECORDS)
    run.watch_commits()
    service = run.service("service", handler={"simulate": {"sleep": "1ms", "hang": 0.01, "timeout": "500ms"}},
                          retry={"backoff": "50ms"})
    run.wait_for_no_lag()
    expect(service.metric("pool_jobs_total", outcome="timeout") > 0, "no attempt was timed out: nothing hung")
    service.stop()
    report = run.judge(Promises(stopped_clean=True))
    expect(report["attempts"] > RECORDS, "no attempt was repeated")


if __name__ == "__main__":
    harness.main("hang", scenario)
