"""kill -9 while records wait for a retry: none is lost, and what the completion map knew is not run again.

A hundredth of the records fails and comes again after seconds, so the committed offset hangs far behind what is done; the
map in the commit's metadata is what keeps the rest from running twice.
"""
import json

import harness
from evidence import FINISHED
from harness import Promises, expect

RECORDS = 20000
INTERVAL = 0.5  # of commits
SLACK = 2.0  # for a busy machine


def scenario(run):
    run.create(4)
    run.produce("--count", RECORDS, "--size", 100)
    run.watch_commits()
    options = {"handler": {"simulate": {"sleep": {"p50": "4ms", "p99": "40ms"}, "fail": 0.01}},
               "kafka": harness.SHORT_SESSION, "commit": {"interval": f"{INTERVAL * 1000:.0f}ms"},
               "retry": {"backoff": "4s", "max_backoff": "4s"}}
    first = run.service("first", **options)
    run.wait_for_progress(first, RECORDS // 2)
    first.kill()
    committed = sum(run.committed().values())
    processed = first.processed()
    expect(processed - committed > 500, f"{processed} processed, {committed} committed: too close to show anything")
    second = run.service("second", **options)
    run.wait_for_no_lag()
    second.stop()
    window = INTERVAL + SLACK
    report = run.judge(Promises(stopped_clean=True, duplicates=recent_successes(first, window),
                                redelivery_window=window))
    expect(report["duplicates"] < processed - committed, "all above the committed offset ran again: no map helped")
    print(f"processed above the committed offset at the kill: {processed - committed}; run again: {report['duplicates']}")


def recent_successes(service, window):
    """How many of its successes are of the last `window` seconds of its life."""
    ends = []
    for line in service.journal.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            attempt = json.loads(line)
            if attempt["outcome"] in FINISHED:
                ends.append(attempt["end"])
    return sum(end > max(ends) - window * 1e9 for end in ends)


if __name__ == "__main__":
    harness.main("kill", scenario)
