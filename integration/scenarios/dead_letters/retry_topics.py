"""Records that fail go on in retry topics while their partition goes on without them; a kill -9 in between loses none.

The receiver judges by the number of the attempt: some records work in the first retry topic, some in the last, some never,
and some are refused for good. Records that another program wrote to a retry topic end in the dead-letter topic as well, and so do
those that are too large for the last retry topic.
"""
import collections
import json
import struct
import time

import harness
from harness import Promises, expect, expect_equal, wait_until
from web_service import WebService, record_of

PARTITIONS, RECORDS, IN_MEMORY, STRANGERS = 3, 1500, 2, 9
FAR, RATE = 200, 100  # of each partition: records that are accepted before the kill in any case; and at most a second
WORKS_AT = {1: IN_MEMORY + 1, 2: IN_MEMORY + 2, 3: None}  # by offset % 20: the first attempt that works, None: none
REFUSED = 4
LARGE, LARGEST = 60_000, 20_000  # bytes: of a few records, that the last retry topic takes
FIRST_LARGE = RECORDS // PARTITIONS  # then one of each kind up to 3


class Receiver(WebService):
    def __init__(self, topic):
        self.topic = topic
        self.attempts = collections.defaultdict(set)
        self.accepted = {}  # (partition, offset): s since 1970, of the first time
        self.strangers = collections.Counter()
        super().__init__()

    def judge(self, headers, _):
        topic, attempt = headers["Kafka-Topic"], int(headers["Laneway-Attempt"])
        partition, offset = record_of(headers)
        with self.lock:
            if topic != self.topic:
                self.strangers[topic] += 1
                return 500
            self.attempts[partition, offset].add(attempt)
            kind = offset % 20
            if kind == REFUSED:
                return 400
            if kind in WORKS_AT and (WORKS_AT[kind] is None or attempt < WORKS_AT[kind]):
                return 500
            self.accepted.setdefault((partition, offset), time.time())
            return 204

    def accepted_of(self, partition):
        with self.lock:
            return sum(place[0] == partition for place in self.accepted)


def scenario(run):
    retries = [f"{run.topic}-retry-500ms", f"{run.topic}-retry-4s"]
    topics = [run.topic, *retries]
    run.create(PARTITIONS)
    receiver = Receiver(run.topic)
    options = {"handler": {"simulate": None, "http": {"url": receiver.url()}},
               "kafka": harness.SHORT_SESSION, "breaker": {"failures": 0},
               "retry": {"attempts": IN_MEMORY, "backoff": "20ms", "topics": ["500ms", "4s"]}, "dead_letter": {"topic": "{topic}-dlt"}}
    first = run.service("first", lanes={"rate": {"records": RATE}}, **options)  # so slow that it cannot come to its end
    wait_until("the service has made its topics", lambda: first.events("started"))
    run.watch_commits(topics=topics)
    run.produce("--count", RECORDS, "--size", 100)
    run.tool("configure", retries[1], f"max.message.bytes={LARGEST}")
    run.produce("--count", STRANGERS, "--size", 100, topic=retries[0])
    wait_until("records have come back from a retry topic",
               lambda: any(IN_MEMORY + 1 in numbers for numbers in list(receiver.attempts.values())))
    wait_until("each partition has come far", lambda: min(receiver.accepted_of(partition) for partition in range(PARTITIONS)) >= FAR)
    settled = first.settled(lambda: run.has_no_lag(topics))
    first.kill()
    run.produce("--count", 4 * PARTITIONS, "--size", LARGE)  # so the second has something for each topic, however late the kill was
    second = run.service("second", **options)
    run.wait_for_no_lag(topics)
    expect(second.metric("retry_topics_total") > 0, "nothing was counted that went to a retry topic")
    second.stop()
    run.judge(Promises(stopped_clean=True, duplicates=first.successes_since(settled), settled=settled), topics,
              letters=[run.topic + "-dlt"], retries=retries)
    judge_attempts(receiver)
    judge_dead_letters(run, retries)
    expect_equal(set(retries[:1]), set(receiver.strangers), "topics of the records that a stranger wrote")
    judge_that_partitions_went_on(run, receiver)


def places(kind):
    return {(p, o) for p in range(PARTITIONS) for o in range(RECORDS // PARTITIONS) if o % 20 == kind}


def too_large():
    """The records that would go to the last retry topic."""
    return {(p, FIRST_LARGE + kind) for p in range(PARTITIONS) for kind in (2, 3)}


def judge_attempts(receiver):
    never = places(3) | places(REFUSED)
    everything = {(p, o) for p in range(PARTITIONS) for o in range(RECORDS // PARTITIONS)}
    everything |= {(p, FIRST_LARGE + kind) for p in range(PARTITIONS) for kind in range(4)}
    expect_equal(everything - never - too_large(), set(receiver.accepted), "accepted records")
    for record in too_large():
        expect_equal(set(range(1, IN_MEMORY + 2)), receiver.attempts[record], f"attempts at {record}, which is too large")
    for kind, last in {1: 3, 2: 4, 3: 4, REFUSED: 1}.items():
        for record in places(kind):
            expect_equal(set(range(1, last + 1)), receiver.attempts[record], f"attempts at {record}")


def judge_dead_letters(run, retries):
    """By Spring's headers: each record that never works is there, from where it began. A kill may write one twice."""
    found, strangers = {}, set()
    for letter in map(json.loads, run.tool("read", run.topic + "-dlt")):
        if "headers" not in letter:
            continue
        headers = {name: bytes.fromhex(value) for name, value in letter["headers"] if value is not None}
        topic = headers["kafka_dlt-original-topic"].decode()
        origin = (struct.unpack(">i", headers["kafka_dlt-original-partition"])[0],
                  struct.unpack(">q", headers["kafka_dlt-original-offset"])[0])
        expect(not [name for name in headers if name.startswith("laneway-retry-")], "a dead letter of a retry topic's headers")
        if topic in retries:
            strangers.add((topic, *origin))
            continue
        expect_equal(run.topic, topic, "a dead letter's origin")
        expect_equal(origin[0], letter["partition"], "a dead letter's partition")
        found[origin] = headers["laneway-reason"].decode(), int(headers["laneway-attempts"])
    expected = {record: ("attempts_exhausted", IN_MEMORY + 2) for record in places(3)}
    expected |= {record: ("attempts_exhausted", IN_MEMORY + 1) for record in too_large()}
    expected |= {record: ("rejected", 1) for record in places(REFUSED)}
    expect_equal(expected, found, "dead letters")
    expect_equal(STRANGERS, len(strangers), "dead letters that a stranger had written to a retry topic")


def judge_that_partitions_went_on(run, receiver):
    """While a record waited in the last retry topic, offsets beyond it were committed."""
    def passed_by(record):
        return any(commits.offsets.get((run.topic, record[0]), 0) > record[1]
                   for commits in run.evidence.commits if commits.time < receiver.accepted[record] * 1e9)
    late = places(2)
    passed = sum(map(passed_by, late))
    print(f"records in the last retry topic that their partition's commit had passed: {passed} of {len(late)}")
    expect(passed > len(late) // 2, "partitions were held by records in a retry topic")
    overtaken = [sum(o > late_o and at < receiver.accepted[p, late_o] for (q, o), at in receiver.accepted.items() if q == p)
                 for p, late_o in late if late_o < 100]
    expect(min(overtaken) >= 100, f"a record in a retry topic was overtaken by {min(overtaken)} of its partition only")


if __name__ == "__main__":
    harness.main("retry_topics", scenario)
