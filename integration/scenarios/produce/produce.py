"""From topic to topic: the written records are read back from the output. usage: produce.py none|key|restart

none, key: two processes, the first of them killed; restart: three brokers of which one is killed and comes back, under load.
Every record is there at least once with its key, value, header and timestamp, and with the place of the record that it was
made of as its delivery id; with order: key also in order, a repetition
aside: once a record is there, none of its key that came before it appears for the first time.
"""
import json
import sys

import harness
from exactly_once import DELIVERY_ID, own_headers
from harness import expect, expect_equal

MODE = sys.argv[1] if len(sys.argv) > 1 else "none"
PARTITIONS, KEYS = 4, 200
RECORDS, RATE = 15000, 3000  # records/s: so slow that the first process cannot come to its end before it is killed


def scenario(run):
    output = run.topic + "-out"
    replicated = ["min.insync.replicas=2"] if MODE == "restart" else []
    run.create(PARTITIONS, *replicated)
    run.create(PARTITIONS + 3, *replicated, topic=output)
    options = {"kafka": harness.SHORT_SESSION, "handler": {"simulate": None, "produce": {"topic": "{topic}-out"}},
               "lanes": {"order": "key" if MODE == "key" else "none", "queue": 2000, "workers": 16}}
    if MODE == "restart":
        through_a_restart(run, options)
    else:
        through_a_kill(run, options)
    run.wait_for_no_lag()
    run.services[-1].stop()
    compare(records_of(run, run.topic), records_of(run, output), run)


def through_a_kill(run, options):
    run.produce("--count", RECORDS, "--keys", KEYS, "--header", "number")
    first = run.service("first", rate={"records": RATE, "burst": "200ms"}, **options)
    run.wait_for_progress(first, RECORDS // 3)
    first.kill()
    run.service("second", **options)


def through_a_restart(run, options):
    service = run.service("service", **options)
    run.produce_meanwhile("--rate", 1000, "--keys", KEYS, "--header", "number")
    run.wait_for_progress(service, 2000)
    run.kafka("restart", "--kill", "--node", "2")
    run.finish_writing()


def records_of(run, topic):
    """Its records by partition, in order of offset, as (key, value, headers, timestamp); and by their origins."""
    partitions, origins = {}, {}
    for line in map(json.loads, run.tool("read", topic)):
        if "value" in line:
            content = line["key"], line["value"], own_headers(line), line["timestamp"]
            partitions.setdefault(line["partition"], []).append(content)
            origins[origin_of(line, topic)] = content
    return partitions, origins


def origin_of(line, topic):
    """Topic, partition and offset of where it was first written: its own, or those in its one delivery id."""
    ids = [bytes.fromhex(value).decode() for name, value in line["headers"] if name == DELIVERY_ID]
    expect(len(ids) <= 1, f"a record has the delivery ids {ids}")
    return ids[0].split("/", 1)[1] if ids else f"{topic}/{line['partition']}/{line['offset']}"


def by_key(partitions):
    """Each key's records, without repetitions, in order of their first appearance."""
    keys = {}
    for records in partitions.values():
        for record in records:
            keys.setdefault(record[0], {})[record] = None
    return {key: list(records) for key, records in keys.items()}


def compare(read, written, run):
    (inputs, origins), (outputs, origins_of_outputs) = read, written
    expect_equal(origins, origins_of_outputs, "records by their origins")
    before, after = by_key(inputs), by_key(outputs)
    expect_equal(KEYS, len(before), "keys that were read")
    expect(all('"number"' in record[2] for records in before.values() for record in records), "a header is missing")
    expect_equal({key: set(records) for key, records in before.items()},
                 {key: set(records) for key, records in after.items()}, "records of each key")
    if MODE == "key":
        expect_equal(before, after, "order of the records of each key")
    for key in before:
        where = [partition for partition, records in outputs.items() if any(record[0] == key for record in records)]
        expect_equal(1, len(where), f"partitions of key {key}")
    total = sum(map(len, outputs.values()))
    wanted = sum(map(len, before.values()))
    print(f"{wanted} records read, {total} written: {total - wanted} repeated")


if __name__ == "__main__":
    harness.main(f"produce-{MODE}", scenario, nodes=3 if MODE == "restart" else 1)
