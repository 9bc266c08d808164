"""A plugin that is slow, throws, hangs until its time-out, crashes the whole process and ignores its stop, then one that
answers after its time-out from a thread of its own: after a restart nothing is lost.

A crash is a kill -9: finished records that are not committed may run twice, and no others.
"""
import json
import re

import harness
from harness import PLUGINS, Promises, expect, expect_equal, wait_until

RECORDS, PARTITIONS = 3000, 4
STUCK = RECORDS // PARTITIONS  # offset in partition 0 of the record whose handler ignores its stop
BEFORE_CRASH = 1000  # short of offset 600 of each partition, at which the plugin crashes
SIGSEGV = -11


def handler(library, **config):
    return {"simulate": None, "plugin": {"library": str(PLUGINS / library), "timeout": "2s", "config": config}}


def handled(run):
    """The records that were processed so far, from the journals."""
    pattern = r'"partition":(\d+),"offset":(\d+),.*"outcome":"success"'
    return {place for journal in run.folder.glob("*.journal") for place in re.findall(pattern, journal.read_text())}


def stuck(run, service):
    """A handler that ignores its stop is reported, and holds up no other record."""
    run.produce("--count", PARTITIONS, "--size", 100, "--keys", PARTITIONS)
    wait_until("a handler is stuck", lambda: service.metric("pool_stuck", partition=0) == 1)
    wait_until("readiness says that a handler is stuck", lambda: "stuck" in service.readiness())
    expect_equal(1, len(service.events("handler stuck")), "stuck handlers in the log")
    wait_until("all others are processed", lambda: len(handled(run)) == RECORDS + PARTITIONS - 1)
    expect(run.committed()[run.topic, 0] <= STUCK, "the record that is stuck was committed")
    (run.folder / "crashed").unlink()
    wait_until("the stuck handler comes back", lambda: service.metric("pool_stuck") == 0)


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    options = {"handler": handler("trouble.so", crashed=str(run.folder / "crashed")), "retry": {"backoff": "50ms"},
               "kafka": {"session.timeout.ms": 6000}, "commit": {"interval": "100ms"}}
    first = run.service("first", **options)
    run.produce("--count", BEFORE_CRASH, "--size", 100)
    wait_until("a commit before the crash", lambda: sum(run.committed().values()) > 0)
    run.produce("--count", RECORDS - BEFORE_CRASH, "--size", 100)
    wait_until("the plugin crashes the process", lambda: not first.running())
    expect_equal(SIGSEGV, first.process.returncode, "exit code of the crash")
    run.services.remove(first)  # its end is as it should be; the journal is read below
    processed = first.processed()
    second = run.service("second", **options)
    stuck(run, second)
    run.wait_for_no_lag()
    second.stop()

    third = run.service("third", handler=handler("late.so"))
    run.produce("--count", RECORDS, "--size", 100)
    run.wait_for_no_lag()
    third.stop()

    run.services.append(first)
    outcomes = first.journal.read_text() + second.journal.read_text()
    for outcome in ("retry", "timeout"):
        expect(f'"outcome":"{outcome}"' in outcomes, f"no attempt ended with {outcome}")
    attempts = list(map(json.loads, third.journal.read_text().splitlines()))
    expect(any(attempt["end"] - attempt["start"] > 2e9 for attempt in attempts), "no answer came after the time-out")
    report = run.judge(Promises(stopped_clean=True, duplicates=processed))
    expect_equal(2 * RECORDS + PARTITIONS, report["processed"], "processed records")


if __name__ == "__main__":
    harness.main("plugin", scenario)
