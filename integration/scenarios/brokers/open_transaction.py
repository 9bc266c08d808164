"""Another program leaves a transaction open: who asks whether the service is ready is told at which offset the lane waits, for what, and
which command names the producer. When the transaction ends, the lane goes on and no record is missing.
"""
import json

import harness
from harness import Promises, expect, expect_equal, wait_until

BEFORE = 10  # records
CAUSE = f"it waits at offset {BEFORE} for a transaction of another producer, which is still open; kafka-transactions.sh"


def scenario(run):
    run.create(1)
    run.watch_commits()
    run.produce("--count", BEFORE)
    service = run.service("service", admin={"ready": {"stall": "2s"}})
    run.wait_for_progress(service, BEFORE)
    run.produce_meanwhile("--rate", 20, "--per-transaction", 100000, verb="produce-transactional")
    wait_until("the service says what its lane waits for", lambda: CAUSE in service.readiness())
    expect(f"describe-producers --topic {run.topic} --partition 0" in service.readiness(), "the command does not name the partition")
    lane = json.loads(service.get("/status"))["lanes"][0]
    expect_equal(BEFORE, lane["open_transaction"], "the offset in the status")
    expect_equal(BEFORE, service.processed(), "records that were processed meanwhile")
    run.finish_writing()
    run.wait_for_no_lag()
    wait_until("the service is ready", lambda: service.readiness().startswith("ready"))
    service.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("open-transaction", scenario)
