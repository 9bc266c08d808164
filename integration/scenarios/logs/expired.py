"""Retention overtakes a paused lane, and then a service that is away, with auto.offset.reset: latest: deleted records are
counted and logged, the lag counts the remaining records, and all of these are processed."""
import harness
from harness import Promises, expect, wait_until

BEFORE, PRODUCED, GONE = 100, 1000, 600  # GONE: first offset that is left


def has_gap(service, expected, offset):
    return any(f"expected={expected} " in line and f"offset={offset} " in line for line in service.events("offset gap"))


def paused(run):
    service = run.service("paused", log={"level": "debug"}, kafka={"auto.offset.reset": "latest"})
    # The position of a group that has none is committed before it has a record.
    wait_until("the end of the log is committed", lambda: run.committed().get((run.topic, 0)) == 0)
    run.produce("--count", BEFORE)
    run.wait_for_progress(service, BEFORE)
    address = service.url().split("//")[1]
    run.command("suspend", "suspend", run.topic, "--admin", address).wait(60)
    wait_until("the lane is suspended", lambda: service.metric("lane_state", state="suspended") == 1)
    wait_until("fetching has stopped", lambda: service.events("lane paused"))
    run.produce("--count", PRODUCED)
    run.tool("delete-records", run.topic, 0, GONE)
    wait_until("the records that are gone are counted",
               lambda: service.metric("lane_records_expired_total") == GONE - BEFORE)
    wait_until("the lag counts what is left", lambda: service.metric("lane_lag_records") == BEFORE + PRODUCED - GONE)
    expect(has_gap(service, BEFORE, GONE), "the log does not tell of the gap")
    run.command("resume", "resume", run.topic, "--admin", address).wait(60)
    run.wait_for_progress(service, BEFORE + (BEFORE + PRODUCED - GONE))
    service.stop()


def away(run):
    end = BEFORE + PRODUCED
    run.produce("--count", PRODUCED)
    run.tool("delete-records", run.topic, 0, end + GONE)
    service = run.service("away", kafka={"auto.offset.reset": "latest"})
    run.wait_for_progress(service, PRODUCED - GONE)
    wait_until("the records that are gone are counted", lambda: service.metric("lane_records_expired_total") == GONE)
    expect(has_gap(service, end, end + GONE), "the log does not tell of the gap")
    run.wait_for_no_lag()
    service.stop()


def scenario(run):
    run.create(1)
    paused(run)
    away(run)
    run.judge(Promises(stopped_clean=True, log_shrinks=True))


if __name__ == "__main__":
    harness.main("expired", scenario)
