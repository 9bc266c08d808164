#!/usr/bin/python3
"""Judges a run: reads journals, the log, commits and acknowledgements, prints a JSON report; exit code 1 on a violation.

  oracle.py --journal A [--journal B] --log DUMP --committed FILE [--acks FILE] [--order key] [--stopped-clean] …
"""
import argparse
import json
import sys
import time

import checks
from evidence import Evidence

SHOWN = 20  # violations of one check that are listed; all are counted


def judge(evidence, promises):
    """The report: numbers of the run, and for each check that failed how often and where."""
    report = {
        "attempts": sum(map(len, evidence.attempts.values())),
        "processed": sum(len({attempt.offset for attempt in evidence.successes(partition)})
                         for partition in evidence.partitions()),
        "visible": sum(map(len, evidence.log.values())),
        "duplicates": len(checks.repeated(evidence)),
        "torn_lines": evidence.torn,
        "commits_seen": len(evidence.commits),
        "violations": {},
    }
    for check in checks.ALL:
        found = list(check(evidence, promises))
        if found:
            report["violations"][check.__name__] = {
                "count": len(found), "at": [f"{violation.where}: {violation.what}" for violation in found[:SHOWN]]}
    return report


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--journal", action="append", required=True, help="one for each process")
    parser.add_argument("--log", action="append", required=True, help="output of kafka_tool dump")
    parser.add_argument("--committed", action="append", default=[], help="output of kafka_tool committed, oldest first")
    parser.add_argument("--acks", action="append", default=[], help="written by kafka_tool produce")
    parser.add_argument("--order", choices=["none", "key", "partition"], default="none")
    parser.add_argument("--incomplete", action="store_true", help="the run was cut short: not all need be processed")
    parser.add_argument("--stopped-clean", action="store_true", help="every process drained")
    parser.add_argument("--log-shrinks", action="store_true", help="compaction or retention removed records")
    parser.add_argument("--duplicates", type=int, default=0, help="records that may succeed more than once")
    parser.add_argument("--settled", type=int, help="ns since 1970: what had succeeded by then was committed")
    return parser.parse_args()


def main():
    options = parse()
    evidence = Evidence()
    for path in options.journal:
        with open(path, encoding="utf-8", newline="") as lines:
            evidence.add_journal(lines, path)
    for paths, add in ((options.log, evidence.add_log), (options.acks, evidence.add_acknowledgements)):
        for path in paths:
            with open(path, encoding="utf-8") as lines:
                add(lines)
    for path in options.committed:
        with open(path, encoding="utf-8") as lines:
            evidence.add_commits(lines, time.time_ns())
    report = judge(evidence, checks.Promises(
        order=options.order, complete=not options.incomplete, stopped_clean=options.stopped_clean,
        duplicates=options.duplicates, settled=options.settled, log_shrinks=options.log_shrinks))
    print(json.dumps(report, indent=2))
    return 1 if report["violations"] else 0


if __name__ == "__main__":
    sys.exit(main())
