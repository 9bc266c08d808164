"""Partitions are added to a topic in use: the running service takes them up from their first record."""
import harness
from harness import Promises, expect


def scenario(run):
    run.create(2)
    run.watch_commits()
    service = run.service("service", kafka={"topic.metadata.refresh.interval.ms": 500})
    run.produce_meanwhile("--rate", 1000)
    run.wait_for_progress(service, 1000)
    run.tool("add-partitions", run.topic, 5)
    run.produce("--count", 3000)
    run.finish_writing()
    run.wait_for_no_lag()
    service.stop()
    expect(all(end > 0 for low, end in run.watermarks().values()), "nothing was written to a new partition")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("add-partitions", scenario)
