"""A web service that is out for a while, then flaps: nothing is lost, and no attempt is used up.

Two attempts within a tenth of a second are all that a record has, so a service that counted the outage's failures would fill
the dead-letter topic at once. In the middle of the outage, while records wait for it to end, a second member joins and leaves.
"""
import time

import dead_letters
import harness
from harness import Promises, expect, expect_equal, wait_until
from web_service import record_of

PARTITIONS, RATE = 4, 400  # records/s
PROBE, FLAPS = 0.1, 6  # seconds, times
WORKERS, FAILURES = 8, 5  # of each partition; that open the breaker


class Receiver(dead_letters.Receiver):
    def judge(self, headers, _):
        record = record_of(headers)
        with self.lock:
            if self.out:
                self.requests_while_out += 1
                return 503
            self.accepted[record] += 1
            return 204

    def accepts(self, more):
        enough = len(self.accepted) + more
        wait_until("the service works", lambda: len(self.accepted) >= enough)

    def refuses(self, more):
        enough = self.requests_while_out + more
        wait_until("the service asks in vain", lambda: self.requests_while_out >= enough)


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    receiver = Receiver()
    options = {"handler": {"simulate": None, "http": {"url": receiver.url()}},
               "retry": {"attempts": 2, "backoff": "50ms", "max_backoff": "50ms"}, "lanes": {"workers": WORKERS},
               "breaker": {"failures": FAILURES, "probe": f"{PROBE * 1000:.0f}ms"}, "dead_letter": {"topic": "{topic}-dlt"}}
    receiver.out = False
    first = run.service("first", **options)
    run.produce_meanwhile("--rate", RATE, "--size", 200)
    receiver.accepts(RATE // 2)
    outage(run, receiver, first, options)
    for _ in range(FLAPS):
        receiver.out = False
        receiver.accepts(RATE // 10)
        receiver.out = True
        receiver.refuses(FAILURES + 1)
    receiver.out = False
    run.finish_writing()
    run.wait_for_no_lag()
    letters = sum(first.metric("dead_letters_total", reason=reason) for reason in ("attempts_exhausted", "rejected"))
    expect_equal(0, letters, "dead letters")
    first.stop()
    records = sum(end for low, end in run.watermarks().values())
    expect_equal(records, len(receiver.accepted), "records accepted")
    expect_equal(records, run.judge(Promises(stopped_clean=True))["processed"], "records processed")


def outage(run, receiver, first, options):
    """With more probes than a record has attempts, both before the second member has come and after it has gone."""
    under_way = PARTITIONS * WORKERS
    receiver.out = True
    begun = time.monotonic()
    wait_until("the breaker is open", lambda: first.metric("breaker_state") > 0)
    receiver.refuses(under_way + 10)
    second = run.service("second", **options)
    wait_until("the second has partitions", lambda: second.events("lane assigned"))
    second.stop()
    receiver.refuses(10)
    # Each member has what was under way when the outage began, or when it came, and probes.
    asked, probes = receiver.requests_while_out, 2 * (time.monotonic() - begun) / PROBE
    expect(asked < 2 * under_way + 2 * probes, f"{asked} requests with time for {probes:.0f} probes: nobody held back")
    print(f"{asked} requests in {time.monotonic() - begun:.0f} s of outage")


if __name__ == "__main__":
    harness.main("outage", scenario)
