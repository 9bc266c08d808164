"""Notifications (config/examples/notifications.yaml): more records than can be sent, a provider that fails now and then, a second
member, and a kill -9. Memory keeps to its bound, the rejections show the overload, and nothing is lost.
"""
import harness
from harness import Promises, expect, wait_until

CONFIG = "config/examples/notifications.yaml"
PARTITIONS, RECORDS, RATE, ENOUGH = 16, 60_000, 500, 1000
MOST = (64 + 64) << 20  # lanes.memory, and what a service without records takes


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    failing = {"handler__simulate__fail": 0.005, "retry__backoff": "100ms"}
    first = run.example("first", CONFIG, **failing)
    run.produce("--count", 2 * PARTITIONS)
    run.wait_for_progress(first, PARTITIONS)  # before its first commit a lane holds for that one
    run.produce("--count", RECORDS)
    run.produce_meanwhile("--rate", RATE)  # so that a second member that joins late finds records, too
    wait_until("the rejections are an alert", lambda: (
        first.metric("pool_rejections_total") > 0.01 * first.metric("pool_jobs_total", outcome="success") > ENOUGH / 100))
    second = run.example("second", CONFIG, **failing)
    run.wait_for_progress(second, ENOUGH)
    settled = second.settled(run.has_no_lag)
    second.kill()
    run.finish_writing()
    run.wait_for_no_lag()
    expect(first.peak_memory() < MOST, f"{first.peak_memory() / 2**20:.0f} MiB of memory")
    first.stop()
    run.judge(Promises(stopped_clean=True, duplicates=second.successes_since(settled), settled=settled))


if __name__ == "__main__":
    harness.main("notifications", scenario)
