"""kill -9 while records wait for a retry: none is lost, and records in the completion map do not run again.

A hundredth of the records fails, and the first process never comes to their second attempt; so the committed offset hangs far
behind what is done, and the map in the commit's metadata is what keeps the rest from running twice.
"""
import harness
from harness import Promises, expect

RECORDS, RATE = 5000, 500  # there at first; a second after that


def options(backoff):
    return {"handler": {"simulate": {"sleep": {"p50": "8ms", "p99": "40ms"}, "fail": 0.01}}, "kafka": harness.SHORT_SESSION,
            "lanes": {"workers": 4}, "retry": {"backoff": backoff, "max_backoff": backoff}}


def scenario(run):
    run.create(4)
    run.produce("--count", RECORDS, "--size", 100)
    run.watch_commits()
    run.produce_meanwhile("--rate", RATE, "--size", 100)
    first = run.service("first", **options("1h"))
    run.wait_for_progress(first, RECORDS // 3)
    settled = first.settled(run.has_no_lag)
    first.kill()
    run.finish_writing()
    committed = sum(run.committed().values())
    processed = first.processed()
    expect(processed - committed > 500, f"{processed} processed, {committed} committed: too close to show anything")
    second = run.service("second", **options("100ms"))
    run.wait_for_no_lag()
    second.stop()
    report = run.judge(Promises(stopped_clean=True, duplicates=first.successes_since(settled), settled=settled))
    expect(report["duplicates"] < processed - committed, "all above the committed offset ran again: no map helped")
    print(f"processed above the committed offset at the kill: {processed - committed}; run again: {report['duplicates']}")


if __name__ == "__main__":
    harness.main("kill", scenario)
