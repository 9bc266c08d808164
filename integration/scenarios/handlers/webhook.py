"""Two members post each record to a server that at first refuses some of them: each is accepted once, as it was written.

Then a third service with the log handler prints the same records.
"""
import collections
import json
import re

import harness
from harness import Promises, expect, expect_equal, wait_until
from web_service import WebService, record_of

PARTITIONS, RECORDS, SIZE = 4, 2000, 300


class Receiver(WebService):
    def __init__(self):
        self.accepted = collections.Counter()
        self.refused = set()
        self.clusters = set()
        self.wrong = []
        super().__init__()

    def judge(self, headers, body):
        """The status. Every 17th record is refused at first, half of them because the server is out, half because it is asked too
        often: neither uses up an attempt."""
        record, attempt, size = record_of(headers), int(headers["Laneway-Attempt"]), len(body)
        cluster, _, *delivery = headers["Laneway-Delivery-Id"].split("/")
        with self.lock:
            self.clusters.add(cluster)
            if size != SIZE or delivery != [str(number) for number in record]:
                self.wrong.append((record, size, delivery))
            if record[1] % 17 == 0 and record not in self.refused:
                self.refused.add(record)
                return 503 if record[1] % 2 else 429
            if attempt != 1:
                self.wrong.append((record, attempt))
            self.accepted[record] += 1
            return 204


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    receiver = Receiver()
    webhook = {"handler": {"simulate": None, "http": {"url": receiver.url()}},
               "retry": {"backoff": "50ms"}}
    services = [run.service(name, **webhook) for name in ("first", "second")]
    # Not before: what waits for its next attempt when a lane goes begins with the first again.
    wait_until("each has its share of the partitions", lambda: all(
        len(json.loads(service.get("/status"))["lanes"]) == PARTITIONS // 2 for service in services))
    run.produce("--count", RECORDS, "--size", SIZE, "--rate", 1000)
    run.wait_for_no_lag()
    for service in services:
        service.stop()
    expect_equal([], receiver.wrong[:5], "requests with a wrong size, attempt or delivery")
    expect(len(receiver.clusters) == 1 and "" not in receiver.clusters, f"cluster of the deliveries: {receiver.clusters}")
    expect(len(receiver.refused) > RECORDS / 17 - PARTITIONS, f"only {len(receiver.refused)} records were refused")
    expect_equal({1}, set(receiver.accepted.values()), "how often a record was accepted")
    expect_equal(RECORDS, len(receiver.accepted), "accepted records")
    report = run.judge(Promises(stopped_clean=True))
    expect_equal(RECORDS, report["processed"], "processed records")
    prints_the_records(run)


def prints_the_records(run):
    printed = re.compile(rf"^{run.topic}:\d+:\d+ \S+ key=\S+ value=", re.MULTILINE)
    printer = run.service("printer", handler={"simulate": None, "log": {}}, kafka={"group.id": run.group + "-log"})
    wait_until("the log handler has printed all", lambda: len(printed.findall(printer.log)) >= RECORDS)
    printer.stop()
    expect_equal(RECORDS, len(printed.findall(printer.log)), "lines of the log handler")


if __name__ == "__main__":
    harness.main("webhook", scenario)
