"""Two pools for two kinds of records, and stages behind one of them: the slow pool costs the others nothing, a member joins and one is
killed while pools work, and nothing is lost."""
import harness
from harness import Promises, expect, wait_until

RECORDS = 4000


def scenario(run):
    run.create(4)
    run.watch_commits()
    settings = {
        "handler": {"simulate": {"sleep": "1ms"}},
        "lanes": {"max_incomplete": 100000},
        # Keys are numbers as texts: those that begin with 1 are the slow ones.
        "route": {"by": "key", "pools": {"1*": "slow"}, "default": "fetch"},
        "pools": {
            "slow": {"workers": 1, "queue": 8, "handler": {"simulate": {"sleep": "20ms"}}},
            "fetch": {"workers": 4, "then": "store"},
            "store": {"workers": 4, "total": 8},
        },
    }
    first = run.service("first", **settings)
    second = run.service("second", **settings)
    run.produce("--count", RECORDS, "--keys", 100)
    run.wait_for_progress(first, RECORDS // 8)
    third = run.service("third", **settings)
    run.wait_for_progress(third, 10)
    second.kill()
    run.produce("--count", RECORDS // 4, "--keys", 100)
    run.wait_for_no_lag()
    for service in (first, third):
        service.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("bulkheads", scenario)
