"""More partitions than the memory was shared out for: the members start over with smaller shares, nothing is lost."""
import harness
from harness import Promises, expect, wait_until

PLANNED = 16  # the service plans for no fewer
ADDED = 24


def scenario(run):
    run.create(PLANNED)
    run.watch_commits()
    service = run.service("service", kafka={"topic.metadata.refresh.interval.ms": 500}, consumers=2)
    run.produce_meanwhile("--rate", 1000)
    run.wait_for_progress(service, 1000)
    run.tool("add-partitions", run.topic, ADDED)
    wait_until("the service shares its memory out anew", lambda: service.events("starting over to divide lanes.memory among more partitions"))
    run.produce("--count", 3000)
    run.finish_writing()
    run.wait_for_no_lag()
    expect(len(service.events("starting over to divide lanes.memory among more partitions")) == 1, "it started over more than once")
    service.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("outgrown", scenario)
