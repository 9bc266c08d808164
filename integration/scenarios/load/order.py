"""Order holds although attempts fail and processes change. usage: order.py key|partition"""
import sys

import harness
from harness import Promises, expect

ORDER = sys.argv[1] if len(sys.argv) > 1 else "key"
RECORDS = {"key": 8000, "partition": 3000}[ORDER]


def scenario(run):
    run.create(4)
    run.produce("--count", RECORDS, "--keys", 60)
    run.watch_commits()
    options = {"handler": {"simulate": {"sleep": "1ms", "fail": 0.02}}, "lanes": {"order": ORDER, "workers": 8},
               "retry": {"backoff": "20ms", "max_backoff": "100ms"}}
    first = run.service("first", **options)
    run.wait_for_progress(first, RECORDS // 3)
    first.stop()
    second = run.service("second", **options)
    run.wait_for_no_lag()
    second.stop()
    report = run.judge(Promises(order=ORDER, stopped_clean=True))
    expect(report["attempts"] > report["processed"], "nothing failed: this shows nothing about retries")


if __name__ == "__main__":
    harness.main(f"order-{ORDER}", scenario)
