"""Exactly once with records that the brokers never take: each is left out and a dead letter, the others are written once.

The output topic is compacted, so it refuses the records without a key, and with each the whole batch that it is in: which
one it was has to be found out. Each time the transaction is aborted and done again.
"""
import json

import harness
from exactly_once import aborted, all_written, expect_each_once, records_of
from harness import expect, expect_equal

GOOD, POISON = 6000, 5
OPTIONS = {"handler": {"simulate": None, "produce": {"topic": "{topic}-out", "transactional": True}},
           "dead_letter": {"topic": "{topic}-dlt"}, "commit": {"interval": "200ms"}}


def scenario(run):
    run.create(2)
    run.create(3, "cleanup.policy=compact", "min.compaction.lag.ms=3600000", topic=run.topic + "-out")
    run.create(2, topic=run.topic + "-dlt")
    run.produce("--count", GOOD // 2, "--keys", 50, "--header", "early")
    run.produce("--count", POISON, "--null-keys", "--header", "poison")
    run.produce("--count", GOOD // 2, "--keys", 50, "--header", "late")
    service = run.service("poison", **OPTIONS)
    run.wait_for_no_lag()
    service.stop()
    expect(aborted(run) > 0, "no transaction was aborted")
    before = records_of(run, run.topic)
    poison = {record for _, record in before.pop(None)}
    expect_each_once(before, all_written(run, GOOD), GOOD)
    letters = [json.loads(line) for line in run.tool("read", run.topic + "-dlt")]
    values = {letter["value"] for letter in letters if "value" in letter}
    expect_equal(poison, values, "dead letters")
    print(f"{GOOD} records, each once; {POISON} dead letters; {aborted(run)} transactions done again")


if __name__ == "__main__":
    harness.main("produce-poison", scenario)
