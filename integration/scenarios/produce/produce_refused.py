"""Exactly once when the brokers refuse records: their transactions are aborted and repeated until the brokers accept the records.

The output topic takes no large records at first. Records in one transaction with a large record must not be visible to a
reader of committed records before the whole transaction is written, and then once.
"""
import harness
from exactly_once import aborted, all_written, expect_each_once, records_of
from harness import expect, wait_until

SMALL, LARGE = 8000, 4
OPTIONS = {"handler": {"simulate": None, "produce": {"topic": "{topic}-out", "transactional": True,
                                                          "kafka": {"batch.size": 10000}}},
           "retry": {"backoff": "50ms", "max_backoff": "500ms"}, "commit": {"interval": "100ms"}}


def scenario(run):
    run.create(2)
    run.create(3, "max.message.bytes=20000", topic=run.topic + "-out")
    run.produce("--count", SMALL // 2, "--keys", 50, "--header", "early")
    service = run.service("refused", **OPTIONS)
    run.wait_for_no_lag()
    run.produce("--count", LARGE, "--size", 60000, "--keys", 50, "--header", "large")
    run.produce("--count", SMALL // 2, "--keys", 50, "--header", "late")
    wait_until("transactions were aborted", lambda: aborted(run) >= 3)
    committed = sum(run.committed().values())
    written = sum(map(len, records_of(run, run.topic + "-out").values()))
    expect(SMALL // 2 <= written <= SMALL, f"{written} records are to be seen while the large ones are refused")
    expect(committed < SMALL + LARGE, "records that were refused are committed")
    run.tool("configure", run.topic + "-out", "max.message.bytes=1000000")
    run.wait_for_no_lag()
    service.stop()
    expect_each_once(records_of(run, run.topic), all_written(run, SMALL + LARGE), SMALL + LARGE)
    print(f"{SMALL + LARGE} records, each once; {aborted(run)} transactions done again")


if __name__ == "__main__":
    harness.main("produce-refused", scenario)
