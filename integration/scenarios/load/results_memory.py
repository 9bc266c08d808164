"""Records that each become 1 MB of sub-jobs, faster than these are processed: memory keeps to lanes.memory, though the queue alone has
room for many times as much."""
import sys

import harness
from harness import expect_equal

RECORDS, RESULTS, SIZE = 300, 25, 40_000
BUDGET = 32  # MiB

PROGRAM = f"""
import json, sys

results = [{{"id": str(i), "value": "x" * {SIZE}}} for i in range({RESULTS})]
for line in sys.stdin:
    print(json.dumps({{"id": json.loads(line)["id"], "outcome": "done", "results": results}}), flush=True)
"""


def scenario(run):
    run.create(1)
    run.produce("--count", RECORDS, "--size", 100)
    program = run.folder / "program.py"
    program.write_text(PROGRAM)
    service = run.service("service", lanes={"memory": f"{BUDGET}MiB"}, handler={"simulate": {"sleep": "2ms"}}, pools={
        "split": {"workers": 4, "queue": RECORDS, "then": "send", "handler": {"exec": {"command": [sys.executable, str(program)]}}},
        "send": {"workers": 4, "queue": 8},
    })
    run.wait_for_no_lag()
    peak = service.expect_memory_within(BUDGET)
    attempts = service.metric("named_pool_attempts_total", pool="send")
    service.stop()
    print(f"at the most {peak:.0f} MiB for {RECORDS * RESULTS * SIZE / 2**20:.0f} MiB of sub-jobs")
    expect_equal(RECORDS * RESULTS, attempts, "sub-jobs that ran")


if __name__ == "__main__":
    harness.main("results-memory", scenario)
