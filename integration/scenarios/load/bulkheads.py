"""Two pools for two kinds of records, and a second stage behind one of them: the slow pool costs the others nothing, a member joins,
another one is killed while its pools work, and no record is lost.

Records whose key begins with key-1 belong to the slow pool, which takes 50 ms for each, one at a time.
"""
import harness
from harness import Promises, expect, wait_until

RECORDS, RATE = 3000, 500  # there at first; a second after that
SLOW = RECORDS * 11 // 100  # of those that are there at first: key-1, and key-10 to key-19


def options():
    return {
        "kafka": harness.SHORT_SESSION,
        "handler": {"simulate": {"sleep": "1ms"}},
        "lanes": {"max_incomplete": 100000},
        "route": {"by": "key", "pools": {"key-1*": "slow"}, "default": "first"},
        "pools": {
            "slow": {"workers": 1, "queue": 8, "handler": {"simulate": {"sleep": "50ms"}}},
            "first": {"workers": 4, "then": "second"},
            "second": {"workers": 4, "total": 8},
        },
    }


def done(service, pool):
    """Records, by the journal."""
    lines = service.journal.read_text().splitlines() if service.journal.exists() else []
    return sum(f'"pool":"{pool}"' in line and '"outcome":"success"' in line for line in lines)


def scenario(run):
    run.create(4)
    run.watch_commits()
    run.produce("--count", RECORDS, "--keys", 100)
    first = run.service("first", **options())
    wait_until("the others are done", lambda: done(first, "second") == RECORDS - SLOW)
    # One worker of a lane needs 4 s for its slow records.
    expect(0 < done(first, "slow") < SLOW / 2, f"{done(first, 'slow')} of {SLOW} slow records were done when the others were")
    run.produce_meanwhile("--rate", RATE, "--keys", 100)
    run.wait_for_progress(first, RECORDS)
    second = run.service("second", **options())
    run.wait_for_progress(second, RATE)
    second.kill()
    run.finish_writing()
    run.wait_for_no_lag([run.topic, *run.parking])
    first.stop()
    run.judge(Promises(stopped_clean=True, duplicates=second.processed()), [run.topic, *run.parking], retries=run.parking)


if __name__ == "__main__":
    harness.main("bulkheads", scenario)
