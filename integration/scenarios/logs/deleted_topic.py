"""A service whose topic was deleted stops as soon as its lanes have ended, although the client library never releases the topic.
If the brokers distribute the partitions (consumer), they take those of the topic back, and the service goes on with its other
topics."""
import json

import harness
from harness import expect_equal, wait_until

DRAIN = 60  # s: more than the stop may take


def left_in_place(run):
    run.create(1)
    run.tool("produce", run.topic, "--count", 20)  # not among the acknowledged ones: the topic goes
    service = run.service("service", lanes={"drain": f"{DRAIN}s"})
    run.wait_for_no_lag()
    run.tool("delete", run.topic)
    wait_until("status says that the topic is gone", lambda: "does not exist" in service.source_error())
    service.signal(15)
    expect_equal(0, service.wait(DRAIN / 2), "exit code")


def taken_by_brokers(run):
    other = run.topic + "-other"
    for topic in (run.topic, other):
        run.create(1, topic=topic)
        run.tool("produce", topic, "--count", 20)
    service = run.service("service", topics=[run.topic, other], lanes={"drain": f"{DRAIN}s"})
    run.wait_for_no_lag([run.topic, other])
    run.tool("delete", run.topic)
    wait_until("its lane has ended", lambda: [lane["topic"] for lane in json.loads(service.get("/status"))["lanes"]] == [other])
    expect_equal([], json.loads(service.get("/status"))["reasons"], "why it is not ready")
    run.tool("produce", other, "--count", 20)
    run.wait_for_no_lag([other])
    service.signal(15)
    expect_equal(0, service.wait(DRAIN / 2), "exit code")


if __name__ == "__main__":
    harness.main("deleted_topic", taken_by_brokers if harness.GROUP_PROTOCOL == "consumer" else left_in_place)
