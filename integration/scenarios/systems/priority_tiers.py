"""Three priorities (config/examples/priority-tiers.yaml): floods of urgent records on two members, each with four workers, and a
kill -9 of one of them while all of its pools work. The lower pools help the urgent one, low records go on during a flood, and
nothing is lost.
"""
import json

import harness
from harness import PLUGINS, Promises, expect, expect_equal, wait_until
from tools.demo import tiers
from tools.demo.evidence import successes

CONFIG = "config/examples/priority-tiers.yaml"
TIERS = ("high", "medium", "low")
PARTITIONS, WORKERS, HIGH_WORKERS = 2, 4, 1  # of each partition
FLOOD = {"high": 200, "low": 5, "medium": 6, "urgent": 2}  # records of each partition, in this order; `urgent` is unknown
ITEMS = 5000  # of a low record: some 80 ms
LONGEST_WAIT = "100ms"  # a flood takes longer on any machine


def flood(run):
    """At once, so that all priorities are there before the work on the first one is over."""
    run.write([{"partition": partition, "key": None, "value": str(ITEMS).encode().hex(),
                "headers": [["priority", priority.encode().hex()]]}
               for priority, count in FLOOD.items() for partition in range(PARTITIONS) for _ in range(count)])


def status(service, part):
    return json.loads(service.get("/status"))[part]


def all_pools_work(service):
    """Whether records of each pool run, or wait for a worker that helps another pool."""
    return all(pool["running"] + pool["queued"] > 0 for pool in status(service, "pools"))


def check_flood(run, services):
    """By the journals and the log."""
    found = successes([service.journal for service in services])
    jobs = tiers.jobs(tiers.written(run.topic, map(json.loads, run.tool("read", run.topic))), found, TIERS, "medium")
    expect_equal([], [job for job in jobs if job.tier != job.pool], "records in the pool of another priority")
    for partition in range(PARTITIONS):
        attempts = [attempt for place, all_of in found.items() if place[1] == partition for attempt in all_of]
        by_pool = {tier: [attempt for attempt in attempts if attempt.fields["pool"] == tier] for tier in TIERS}
        expect_equal(WORKERS, tiers.at_once(by_pool["high"]), "workers that ran urgent records at once")
        expect(tiers.at_once(by_pool["medium"] + by_pool["low"]) <= WORKERS - HIGH_WORKERS, "the worker of high ran another record")
        expect(min(one.start for one in by_pool["low"]) < max(one.start for one in by_pool["high"]),
               "the low records waited for the end of the flood")


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    settings = {f"pools__{tier}__handler__plugin__library": PLUGINS / "tiers.so" for tier in TIERS}
    settings.update({f"pools__{tier}__longest_wait": LONGEST_WAIT for tier in ("medium", "low")})
    first, second = (run.example(name, CONFIG, **settings) for name in ("first", "second"))
    wait_until("each member has a partition", lambda: all(len(status(service, "lanes")) == 1 for service in (first, second)))
    flood(run)
    run.wait_for_no_lag()
    check_flood(run, (first, second))
    settled, before = second.settled(run.has_no_lag), second.processed()
    flood(run)
    wait_until("all pools of the second member work", lambda: all_pools_work(second) and second.processed() > before)
    second.kill()
    expect(not run.has_no_lag(), "all records were committed before the kill")
    run.wait_for_no_lag()
    first.stop()
    run.judge(Promises(stopped_clean=True, duplicates=second.successes_since(settled), settled=settled))


if __name__ == "__main__":
    harness.main("priority-tiers", scenario)
