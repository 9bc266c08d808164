"""Two pools for two kinds of records, and a second stage behind one of them: the slow pool costs the others nothing, a member joins,
another one is killed while its pools work, and no record is lost.

Records whose key begins with 1 belong to the slow pool, which takes 20 ms for each, one at a time.
"""
import harness
from harness import Promises, expect

RECORDS, RATE = 3000, 500  # there at first; a second after that


def options():
    return {
        "kafka": harness.SHORT_SESSION,
        "handler": {"simulate": {"sleep": "1ms"}},
        "lanes": {"max_incomplete": 100000},
        "route": {"by": "key", "pools": {"1*": "slow"}, "default": "first"},
        "pools": {
            "slow": {"workers": 1, "queue": 8, "handler": {"simulate": {"sleep": "20ms"}}},
            "first": {"workers": 4, "then": "second"},
            "second": {"workers": 4, "total": 8},
        },
    }


def scenario(run):
    run.create(4)
    run.watch_commits()
    run.produce("--count", RECORDS, "--keys", 100)
    run.produce_meanwhile("--rate", RATE, "--keys", 100)
    first = run.service("first", **options())
    run.wait_for_progress(first, RECORDS)
    # One worker of a lane needs 1.5 s for its slow records of those that were there at first.
    expect(first.metric("lane_holds_total") == 0, "a lane held although only one of its pools was full")
    second = run.service("second", **options())
    run.wait_for_progress(second, RATE)
    second.kill()
    run.finish_writing()
    run.wait_for_no_lag()
    first.stop()
    run.judge(Promises(stopped_clean=True, duplicates=second.processed()))


if __name__ == "__main__":
    harness.main("bulkheads", scenario)
