"""A program that crashes at every 50th record, hangs, dawdles and answers nonsense now and then: nothing is lost.

The program writes down each record that it answers done for, so that the journal's word is not all there is. Every fault
comes at a record's first attempt; its second works.
"""
import collections
import json
import sys

import harness
from harness import Promises, expect, expect_equal

PARTITIONS, RECORDS, SIZE = 2, 2000, 200

PROGRAM = """
import json, os, sys, time

done = open(sys.argv[1], "a", buffering=1)
for line in sys.stdin:
    record = json.loads(line)
    offset = record["offset"]
    if record["attempt"] == 1:
        if offset % 50 == 49:
            sys.stderr.write(f"cannot stand {offset}\\n")
            os.abort() if offset % 100 == 99 else sys.exit(3)
        if offset % 250 == 100:
            time.sleep(1000)
        if offset % 250 == 150:
            time.sleep(1)
        if offset % 125 == 60:
            print("Traceback: what is this?", flush=True)
            continue
        if offset % 125 == 61:
            print('{"outcome":"done"}\\n{"outcome":"done"}', flush=True)
            continue
    done.write(f"{record['partition']} {offset} {len(record['value'])} {record['attempt']}\\n")
    print(json.dumps({"id": record["id"], "outcome": "done"}), flush=True)
"""


def fault(offset):
    """The outcome of the first attempt of a record, from the journal."""
    if offset % 50 == 49 or offset % 125 in (60, 61):
        return "retry"
    return "timeout" if offset % 250 == 100 else None


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    program, handled = run.folder / "program.py", run.folder / "handled"
    program.write_text(PROGRAM)
    service = run.service(
        "service", handler={"simulate": None, "exec": {"command": [sys.executable, str(program), str(handled)],
                                                       "timeout": "2s"}},
        lanes={"workers": 4}, retry={"backoff": "50ms"})
    run.produce("--count", RECORDS, "--size", SIZE)
    run.wait_for_no_lag()
    service.stop()
    report = run.judge(Promises(stopped_clean=True))
    expect_equal(RECORDS, report["processed"], "processed records")
    failed = what_the_journal_says(service)
    what_the_program_saw(handled, failed)
    expect(service.events("exec standard error"), "the program's standard error is not in the log")


def what_the_journal_says(service):
    """{record: outcomes of the attempts that failed}. A busy machine may add time-outs: a program starts slowly."""
    failed = collections.defaultdict(set)
    for line in service.journal.read_text().splitlines():
        attempt = json.loads(line)
        slow = attempt["offset"] % 250 == 150 and attempt["attempt"] == 1
        expect(not slow or attempt["end"] - attempt["start"] >= 1e9, f"{line} is no answer of a slow program")
        if attempt["outcome"] != "success":
            failed[attempt["partition"], attempt["offset"]].add(attempt["outcome"])
    for partition in range(PARTITIONS):
        for offset in range(RECORDS // PARTITIONS):
            outcomes, planted = failed.get((partition, offset), set()), fault(offset)
            expect(outcomes <= {planted, "timeout"}, f"{partition}@{offset} failed by {outcomes}, not {planted}")
            expect(planted is None or outcomes, f"{partition}@{offset} did not fail")
    return failed


def what_the_program_saw(handled, failed):
    seen = collections.Counter()
    for line in handled.read_text().splitlines():
        partition, offset, size, attempt = map(int, line.split())
        seen[partition, offset] += 1
        expect_equal(SIZE, size, f"size of the value of {partition}@{offset}")
        if not failed.get((partition, offset)):
            expect_equal(1, attempt, f"attempt of {partition}@{offset}")
    expect_equal(RECORDS, len(seen), "records that the program answered done for")
    more = {place for place, times in seen.items() if times > 1 and "timeout" not in failed.get(place, ())}
    expect_equal(set(), more, "records that it was given again after its done")


if __name__ == "__main__":
    harness.main("exec", scenario)
