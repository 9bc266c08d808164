"""How a scenario is run as a program: a function of a Run, its end as an exit code, and several functions side by side."""
import concurrent.futures
import signal
import sys
import time
import traceback

from run import Run
from waits import Failed, expect


def at_once(run, cases):
    """Calls each of these functions of a Run in a thread of its own: they wait most of the time. Tells of all that fail."""
    def failure_of(case):
        started = time.monotonic()
        try:
            case(run)
        except Failed as failure:
            return f"{case.__name__}: {failure}"
        print(f"{case.__name__}: passed in {time.monotonic() - started:.1f} s")
        return None
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as threads:
        failures = list(filter(None, threads.map(failure_of, cases)))
    expect(not failures, "\n".join(failures))


def main(name, scenario, own_kafka=False, nodes=1, secured=False, broker=(), access=False):
    """Runs one scenario and ends the program: 0 passed, 1 failed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that ctest's time-out cleans up, too
    started = time.monotonic()
    try:
        with Run(name, own_kafka, nodes, secured, broker, access) as run:
            scenario(run)
    except Failed as failure:
        traceback.print_exc()
        print(f"{name}: FAILED: {failure}")
        sys.exit(1)
    print(f"{name}: passed in {time.monotonic() - started:.1f} s")
