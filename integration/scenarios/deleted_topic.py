"""A service whose topic was deleted stops as soon as its lanes have ended, although the client library never lets go of it."""
import harness
from harness import expect_equal, wait_until

DRAIN = 60  # s: more than the stop may take


def scenario(run):
    run.create(1)
    run.tool("produce", run.topic, "--count", 20)  # not among the acknowledged ones: the topic goes
    service = run.service("service", lanes={"drain": f"{DRAIN}s"})
    run.wait_for_no_lag()
    run.tool("delete", run.topic)
    wait_until("status says that the topic is gone", lambda: "does not exist" in service.source_error())
    service.signal(15)
    expect_equal(0, service.wait(DRAIN / 2), "exit code")


if __name__ == "__main__":
    harness.main("deleted_topic", scenario)
