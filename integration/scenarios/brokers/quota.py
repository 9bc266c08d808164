"""A quota below the size of a batch lets nothing through: the lane never hears from its partition. It is not ready, with the reason, until
the quota is lifted.
"""
import harness
import wire
from harness import Promises, expect, expect_equal, wait_until

RECORDS = 100


def scenario(run):
    run.create(1)
    run.watch_commits()
    run.produce("--count", RECORDS, "--size", 10_000)
    address = run.admin_bootstrap.split(",")[0]
    wire.limit_client(address, run.group, 100)
    service = run.service("service", kafka={"client.id": run.group}, admin={"ready": {"stall": "3s"}})
    reason = wait_until("the lane is not ready", lambda: "heard nothing" in service.readiness() and service.readiness())
    expect("because of a quota" in reason, f"/readyz names the quota: {reason}")
    wait_until("the delays are counted", lambda: service.metric("client_throttled_seconds_total") > 0)
    expect_equal(0, service.processed(), "processed records")
    wire.limit_client(address, run.group, None)
    run.wait_for_progress(service, RECORDS)
    wait_until("the service is ready", lambda: service.readiness().strip() == "ready")
    run.wait_for_no_lag()
    service.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("quota", scenario)
