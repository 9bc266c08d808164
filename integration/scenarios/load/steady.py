"""Records come and are processed; at the end nothing is left, nothing ran twice, the metrics agree with the journal.

Then two services read them again, one with a limit to its rate and one with a limit to each partition's.
"""
import json

import harness
from harness import Promises, expect, expect_equal, wait_until

RECORDS, PARTITIONS = 12000, 6
RATE, BURST = 6000, 0.1  # records/s; s


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    service = run.service("steady", consumers=2)
    # Not before: metrics are those of the lanes that are there, and go with them.
    wait_until("each member has lanes", lambda: each_has_lanes(json.loads(service.get("/status"))["lanes"]))
    run.produce("--count", RECORDS, "--size", 200, "--rate", 4000)
    run.wait_for_no_lag()
    expect_equal(RECORDS, service.metric("pool_jobs_total", outcome="success"), "laneway_pool_jobs_total")
    wait_until("the lag is 0 in the metrics", lambda: service.metric("lane_lag_records") == 0)
    service.get("/livez")  # fails on any answer but 200
    service.stop()
    report = run.judge(Promises(stopped_clean=True))
    expect_equal(RECORDS, report["processed"], "processed records")
    expect(report["commits_seen"] > 3, "the oracle saw too few commits to say anything about their order")
    limited(run)


def each_has_lanes(lanes):
    return len(lanes) == PARTITIONS and {lane["member"] for lane in lanes} == {1, 2}


def limited(run):
    """They take the time that the rate needs; more is no fault, and half leaves room for a machine that stands still."""
    burst = f"{BURST * 1000:.0f}ms"
    services = {
        "process": {"rate": {"records": RATE, "burst": burst}},
        "partition": {"lanes": {"rate": {"records": RATE // PARTITIONS, "burst": burst}}}}
    started = [run.service(name, **limits, kafka={"group.id": f"{run.group}-{name}"}) for name, limits in services.items()]
    for service in started:
        run.wait_for_progress(service, RECORDS)
        service.stop()
        attempts = list(map(json.loads, service.journal.read_text().splitlines()))
        took = (max(attempt["end"] for attempt in attempts) - min(attempt["start"] for attempt in attempts)) / 1e9
        print(f"{RECORDS} records with a limit of the {service.name}: {took:.1f} s")
        expect(took >= (RECORDS / RATE - BURST) / 2, f"{RECORDS} records with a limit of {RATE}/s took {took:.1f} s")


if __name__ == "__main__":
    harness.main("steady", scenario)
