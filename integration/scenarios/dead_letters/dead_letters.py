"""Records that can never work go to the dead-letter topic, an outage sends none there, and none is lost.

The receiver is out at first (503); it refuses every 50th record for good (400) and fails another 50th each time (500). In
the middle the dead-letter topic is deleted: the lanes hold until it is there again. Then it takes no large records, which are
cut, and it deletes old records: dead letters stay, because they have the time of writing.
"""
import collections
import json
import re
import struct
import time

import harness
from harness import Promises, expect, expect_equal, wait_until
from web_service import WebService, record_of

PARTITIONS, RECORDS, ATTEMPTS = 4, 2000, 3
HALF = RECORDS // PARTITIONS // 2  # offset at which each partition's second half begins, with one that is refused
PROBE = 0.1  # s
WORKERS = 8  # of each partition
LARGE, LARGE_SIZE, LARGEST = 2 * PARTITIONS, 60_000, 20_000  # records, bytes of each, bytes that the topic takes
DAY, HOUR = 24 * 3600, 3600  # s: age of the old records, age that the topic takes
END = RECORDS // PARTITIONS + 51  # of each partition: two large records, 48 that work, an old one


class Receiver(WebService):
    def __init__(self):
        self.out = True
        self.requests_while_out = 0
        self.attempts = collections.defaultdict(set)  # {record: the numbers of its attempts}
        self.accepted = collections.Counter()
        super().__init__()

    def judge(self, headers, _):
        record = record_of(headers)
        with self.lock:
            if self.out:
                self.requests_while_out += 1
                return 503
            self.attempts[record].add(int(headers["Laneway-Attempt"]))
            if record[1] % 50 == 0:
                return 400
            if record[1] % 50 == 1:
                return 500
            self.accepted[record] += 1
            return 204


def origins_of(run, topic):
    """{(partition, offset): reason} of the dead letters, by Spring's headers; each once."""
    found = {}
    for letter in map(json.loads, run.tool("read", topic)):
        if "headers" not in letter:
            continue
        headers = {name: bytes.fromhex(value) for name, value in letter["headers"] if value is not None}
        expect_equal(run.topic, headers["kafka_dlt-original-topic"].decode(), "a dead letter's origin")
        origin = (struct.unpack(">i", headers["kafka_dlt-original-partition"])[0],
                  struct.unpack(">q", headers["kafka_dlt-original-offset"])[0])
        expect(origin not in found, f"{origin} is a dead letter twice")
        expect_equal(origin[0], letter["partition"], "a dead letter's partition")
        found[origin] = headers["laneway-reason"].decode(), headers["kafka_dlt-exception-message"].decode()
    return found


def scenario(run):
    letters = run.topic + "-dlt"
    run.create(PARTITIONS)
    run.watch_commits()
    receiver = Receiver()
    service = run.service(
        "webhook",
        handler={"simulate": None, "http": {"url": receiver.url()}},
        retry={"attempts": ATTEMPTS, "backoff": "20ms", "max_backoff": "500ms"}, dead_letter={"topic": "{topic}-dlt"},
        breaker={"probe": f"{PROBE * 1000:.0f}ms"}, lanes={"workers": WORKERS})
    produce(run)
    outage(run, service, receiver)
    wait_until("the first half is committed", lambda: sum(run.committed().values() or [0]) >= RECORDS // 2)
    first = len(origins_of(run, letters))
    run.keep_copies("dead_letter", [letters])
    run.tool("delete", letters)
    produce(run)
    tried_in_vain(run, service)
    run.create(PARTITIONS, f"max.message.bytes={LARGEST}", f"message.timestamp.before.max.ms={HOUR * 1000}", topic=letters)
    run.wait_for_no_lag()
    produce_what_the_topic_refuses(run)
    run.wait_for_no_lag()
    expect_equal(RECORDS / 25 + LARGE + PARTITIONS, service.metric("dead_letters_total"), "dead letters that were counted")
    service.stop()
    logs_each(service, [(partition, offset) for partition in range(PARTITIONS) for offset in range(END) if offset % 50 < 2])
    judge(run, receiver, letters, first)


def tried_in_vain(run, service):
    """Without their topic, the first dead letters of each partition's second half hold back its commits: what is done behind
    them is in the commits' maps alone."""
    wait_until("dead letters are written in vain, and in vain again",
               lambda: service.journaled("dead_letter_failed") > 2 * PARTITIONS)

    def commits():
        found = list(map(json.loads, run.tool("committed", run.group, run.topic)))
        beyond = [commit for commit in found if (commit["offset"] or 0) > HALF]
        expect(not beyond, f"commits beyond unwritten dead letters, which begin at {HALF}: {beyond}")
        return found
    wait_until("records behind the unwritten dead letters are committed, in maps",
               lambda: all(commit["offset"] == HALF and commit["metadata"] for commit in commits()))


def produce(run):
    """Keys and a header of their own must be in the dead letters, too."""
    run.produce("--count", RECORDS // 2, "--size", 200, "--keys", 1000, "--header", "traceparent")


def produce_what_the_topic_refuses(run):
    """Their offsets have it that all large and all old records are given up."""
    run.produce("--count", LARGE, "--size", LARGE_SIZE, "--keys", PARTITIONS)
    run.produce("--count", PARTITIONS * 48, "--size", 200, "--keys", PARTITIONS)
    old = {"key": "61", "value": "6f6c64", "timestamp": int((time.time() - DAY) * 1000), "headers": [["traceparent", "30"]]}
    run.write([{**old, "partition": partition} for partition in range(PARTITIONS)])


def outage(run, service, receiver):
    """The breaker opens; then only a probe now and then reaches a downstream that is out, and nothing is given up for it."""
    wait_until("the breaker is open", lambda: service.metric("breaker_state") > 0)
    begun, asked = time.monotonic(), receiver.requests_while_out
    under_way = PARTITIONS * WORKERS  # when it opened
    wait_until("it is asked again and again", lambda: receiver.requests_while_out >= asked + under_way + 5)
    more, probes = receiver.requests_while_out - asked, (time.monotonic() - begun) / PROBE
    expect(more <= under_way + 2 * probes, f"{more} requests during an outage, with time for {probes:.0f} probes")
    expect_equal(0, service.metric("dead_letters_total"), "dead letters of an outage")
    status = json.loads(service.get("/status"))
    expect(re.fullmatch(r"the downstream \S+ fails for 100 % of calls: HTTP 503 \(\d+\), of \d+ calls .*; the lanes have been held since \d\d:\d\d:\d\dZ"
                        r".*; no record is given up meanwhile; .*", status["reasons"][0]["text"]), f"the reason: {status['reasons']}")
    breaker = status["breaker"]
    expect_equal([{"kind": "HTTP 503", "calls": breaker["failed_calls"]}], breaker["failed_by_kind"], "how calls failed")
    expect_equal([0] * PARTITIONS, [lane["rate"] for lane in status["lanes"]], "records done a second")
    expect(all("HTTP 503" in lane["last_error"]["error"] for lane in status["lanes"]), f"the last errors: {status['lanes']}")
    expect(service.metric("downstream_calls_total", outcome="http_5xx") >= under_way, "calls that failed")
    receiver.out = False


def logs_each(service, poison):
    """One by one or, beyond the first twenty of a minute, by number; where a record was, and why it was given up."""
    lines = [line for line in service.log.splitlines() if ' msg="dead letter" ' in line]
    more = sum(int(re.search(r" records=(\d+)", line)[1]) for line in service.events("more dead letters"))
    places = [tuple(map(int, re.search(r" partition=(\d+) offset=(\d+) ", line).groups())) for line in lines]
    expect_equal(len(poison), len(places) + more, "dead letters in the log")
    expect_equal(len(places), len(set(places) & set(poison)), "dead letters with a line of their own")
    expect(len(lines) >= 20 * PARTITIONS, f"only {len(lines)} dead letters have a line of their own")
    for line in lines:
        rejected = int(re.search(r" offset=(\d+) ", line)[1]) % 50 == 0
        attempts, why = (1, 'reason=rejected error="HTTP 400') if rejected else (ATTEMPTS, 'reason=attempts_exhausted error="HTTP 500')
        expect(f" attempt={attempts} " in line and why in line, f"the line of a dead letter: {line}")


def judge(run, receiver, letters, first):
    poison = [(p, o) for p in range(PARTITIONS) for o in range(END) if o % 50 < 2]
    second = origins_of(run, letters)
    expect_equal(len(poison) - first, len(second), "dead letters after the topic was made anew")
    for origin, (reason, message) in second.items():
        expect_equal("rejected" if origin[1] % 50 == 0 else "attempts_exhausted", reason, f"reason of {origin}")
        expect(f"HTTP {400 if origin[1] % 50 == 0 else 500}" in message, f"message of {origin}: {message}")
    for origin in poison:
        numbers = range(1, 2 if origin[1] % 50 == 0 else ATTEMPTS + 1)
        expect_equal(set(numbers), receiver.attempts[origin], f"attempts at {origin}")
    expect_equal(END * PARTITIONS - len(poison), len(receiver.accepted), "accepted records")
    expect_equal({1}, set(receiver.accepted.values()), "how often a record was accepted")
    report = run.judge(Promises(stopped_clean=True), letters=[letters])
    expect_equal(END * PARTITIONS, report["processed"], "records that were processed or given up")
    judge_content(run.evidence.copies["dead_letter"])


def judge_content(letters):
    """The oracle has compared them with their origins; what it compared was worth it."""
    names = [[name for name, _ in letter.record.headers] for letter in letters]
    expect(all(name[0] == "traceparent" for name, letter in zip(names, letters) if letter.origin[2] // 2 * 2 != 2 * HALF),
           "a dead letter does not begin with its record's own header")
    cut = [letter for letter, name in zip(letters, names) if "laneway-truncated" in name]
    expect_equal(LARGE, len(cut), "dead letters that were cut")
    expect(all(LARGEST // 4 < len(letter.record.value) // 2 < LARGEST for letter in cut), "a dead letter was cut too much")
    old = [letter for letter in letters if letter.origin[2] == END - 1]
    expect_equal(PARTITIONS, len(old), "dead letters of old records")
    expect(all(time.time() - letter.record.timestamp / 1000 < HOUR for letter in old), "a topic has a timestamp that it refuses")


if __name__ == "__main__":
    harness.main("dead_letters", scenario)
