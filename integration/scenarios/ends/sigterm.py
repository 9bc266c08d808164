"""SIGTERM under load: running records are finished, processed records are committed, and the next process repeats nothing."""
import harness
from harness import Promises, expect

RECORDS = 6000


def scenario(run):
    run.create(6)
    run.produce("--count", RECORDS, "--size", 100)
    run.produce_meanwhile("--rate", 1000, "--size", 100)
    run.watch_commits()
    options = {"handler": {"simulate": {"sleep": {"p50": "5ms", "p99": "60ms"}}}, "lanes": {"workers": 4}}
    first = run.service("first", **options)
    run.wait_for_progress(first, RECORDS // 4)
    first.stop()
    run.finish_writing()
    committed = sum(run.committed().values())
    written = sum(end for _, end in run.watermarks().values())
    expect(first.processed() < written, "everything was done before the SIGTERM: this was no load")
    expect(committed == first.processed(), f"{first.processed()} were processed, but {committed} committed")
    second = run.service("second", **options)
    run.wait_for_no_lag()
    second.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("sigterm", scenario)
