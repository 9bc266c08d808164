"""A web service that is out for a while, then flaps: nothing is lost, and no attempt is used up.

Two attempts within a tenth of a second are all that a record has, so whoever counts the outage's failures fills the
dead-letter topic at once. In the middle of the outage, while records wait for it to end, a second member joins and leaves.
"""
import time

import dead_letters
import harness
from harness import Promises, expect, expect_equal, wait_until
from web_service import record_of

PARTITIONS, RECORDS = 4, 4000
OUTAGE, FLAPS, FLAP = 12.0, 8, 0.5  # seconds, times, seconds


class Receiver(dead_letters.Receiver):
    def judge(self, headers, _):
        record = record_of(headers)
        with self.lock:
            if self.out:
                self.requests_while_out += 1
                return 503
            self.accepted[record] += 1
            return 204


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    receiver = Receiver()
    options = {"handler": {"simulate": None, "http": {"url": receiver.url()}},
               "retry": {"attempts": 2, "backoff": "50ms", "max_backoff": "50ms"},
               "breaker": {"failures": 5, "probe": "200ms"}, "dead_letter": {"topic": "{topic}-dlt"}}
    receiver.out = False
    first = run.service("first", **options)
    run.produce_meanwhile("--count", RECORDS, "--rate", RECORDS / 20, "--size", 200)
    wait_until("the service works", lambda: len(receiver.accepted) > RECORDS // 20)

    receiver.out = True
    begun = time.monotonic()
    wait_until("the breaker is open", lambda: first.metric("breaker_state") > 0)
    second = run.service("second", **options)
    wait_until("the second has partitions", lambda: second.events("lane assigned"))
    second.stop()
    time.sleep(max(0, begun + OUTAGE - time.monotonic()))
    asked = receiver.requests_while_out
    expect(asked < OUTAGE / 0.2 * 2 + 100, f"{asked} requests in the outage: nobody held back")

    for _ in range(FLAPS):
        receiver.out = not receiver.out
        time.sleep(FLAP)
    receiver.out = False
    run.finish_writing()
    run.wait_for_no_lag()
    letters = sum(first.metric("dead_letters_total", reason=reason) for reason in ("attempts_exhausted", "rejected"))
    expect_equal(0, letters, "dead letters")
    first.stop()
    expect_equal(RECORDS, len(receiver.accepted), "records accepted")
    report = run.judge(Promises(stopped_clean=True))
    expect_equal(RECORDS, report["processed"], "records processed")
    print(f"{asked} requests in {OUTAGE:.0f} s of outage")


if __name__ == "__main__":
    harness.main("outage", scenario)
