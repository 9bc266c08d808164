"""Measures laneway against its targets: builds, starts a Kafka of its own, fills topics, runs, prints a table.

  scripts/bench                      every case; about 30 minutes
  scripts/bench noop key             only these: noop key partition scraped plugin produce sleep ordered stuck bulkheads overload waiting idle
                                     http exec adaptive pool
  scripts/bench --repeat 9 --records 8000000
  scripts/bench --before ../earlier/build before
                                     noop, key, plugin, sleep, bulkheads and http beside another build, in turns
  scripts/bench --client both noop produce
                                     the cases on the bundled Kafka client, then on the system's, each beside the bare loop on
                                     the same client

Figures are medians, ratios are medians over the rounds; in each round the bare loop and laneway run one after the other.
All measurements go to build/bench.json. Exit code 1: a target was missed. See integration/bench/README.md. Run nothing
else on the machine.
"""
import argparse
import json
import sys
from pathlib import Path

from ..failure import Failure
from . import cases
from .bench import ROOT, TARGETS, Bench
from .cases import CASES, WHEN_ASKED, WITHOUT_KAFKA
from .table import table


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {' '.join(CASES)}; default: all")
    parser.add_argument("--repeat", type=int, default=5, help="rounds of each comparison")
    parser.add_argument("--records", type=int, default=4_000_000, help="of noop, key and plugin")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build directory; default: build")
    parser.add_argument("--before", type=Path, help="build directory of another version, for the case `before`")
    parser.add_argument("--client", choices=("bundled", "system", "both"), default="bundled", help="Kafka client; default: bundled")
    options = parser.parse_args(arguments)
    known = [*CASES, *(WHEN_ASKED if options.before else [])]
    unknown = set(options.cases) - set(known)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.repeat < 1 or options.records < 500_000:
        parser.error("--repeat takes 1 or more, --records 500000 or more")
    options.build = options.build.resolve()
    options.before = options.before and options.before.resolve()
    return options


def run(benches, chosen):
    for bench in benches:
        bench.build(TARGETS)
    cases.run_without_kafka(benches[0], chosen)
    if set(chosen) - set(WITHOUT_KAFKA):
        with benches[0].kafka():
            for bench in benches:
                bench.share(benches[0])
                cases.run(bench, chosen)


def tell(benches, build):
    """Prints the table of the results so far, however the run ended; all measurements go to a file."""
    rows = [row for bench in benches for row in bench.rows]
    if rows:
        runs = [one for bench in benches for one in bench.runs]
        (build / "bench.json").write_text(json.dumps({"rows": rows, "runs": runs}, indent=1))
        print("\n" + table(rows))
    return rows


def main(arguments=None):
    """The exit code."""
    options = parse(arguments)
    clients = ("bundled", "system") if options.client == "both" else (options.client,)
    benches = [Bench(options, client, len(clients) > 1) for client in clients]
    try:
        run(benches, options.cases or CASES)
    except Failure as failure:
        print(f"scripts/bench: {failure}", file=sys.stderr)
        return 69
    finally:
        rows = tell(benches, options.build)
    return 0 if all(row["passed"] is not False for row in rows) else 1
