"""A topic is deleted while its lane is idle, and created again: the service reports that it cannot read the topic, uses none
of the old topic's offsets, and processes every record of the new topic.

empty: the client sees the new topic before there is a record. grown: when the client sees it, it has grown past the old offset, so
that nothing goes back. Where the brokers distribute the partitions (consumer), they take those of the topic that is deleted out of
the assignment, and the client sees the new one as another topic. There, in grown, the member commits what it has done in the old topic
when the new one is there already; that is for brokers that take topic ids in commits (Kafka 4.2 and newer). suspended: the lane fetches nothing, so the
client does not hear that the topic was deleted; by the last record it sees, when it is resumed, that the topic is another one.
"""
import json
import signal
import sys

import harness
from harness import expect, expect_equal, wait_until

STORY = sys.argv[1] if len(sys.argv) > 1 else "empty"
OLD, NEW, LATER = 20, 30, 10


def reasons(service):
    """The codes of why it is not ready."""
    return [reason["code"] for reason in json.loads(service.get("/status"))["reasons"]]


def seen_by_client(run):
    run.create(1)
    run.tool("produce", run.topic, "--count", OLD)  # not among the acknowledged ones: the topic goes
    first = run.service("first")
    run.wait_for_no_lag()
    run.tool("delete", run.topic)
    wait_until("status says that the topic is gone", lambda: "does not exist" in first.source_error())
    wait_until("the service is not ready", lambda: reasons(first) == ["unreadable"])
    if STORY == "empty":
        run.create(1)
        wait_until("the client went back", lambda: "went back to offset 0" in first.source_error())
        run.produce("--count", NEW)
    else:
        first.signal(signal.SIGSTOP)
        run.create(1)
        run.produce("--count", NEW)
        first.signal(signal.SIGCONT)
    wait_until("all of the new topic is processed", lambda: first.processed() == OLD + NEW)
    wait_until("the service is ready", lambda: not reasons(first))
    expect(first.events("offsets went back"), "the log does not say that the topic is another one")
    first.stop()
    expect_equal(NEW, run.committed()[run.topic, 0], "the committed offset of the new topic")
    run.produce("--count", LATER)
    second = run.service("second")
    wait_until("what came later is processed", lambda: second.processed() == LATER)
    second.stop()


def suspended(run):
    run.create(1)
    run.tool("produce", run.topic, "--count", OLD)
    service = run.service("service", log={"level": "debug"})
    run.wait_for_no_lag()
    address = service.url().removeprefix("http://")
    expect_equal(0, run.command("suspend", "suspend", run.topic, "--admin", address).wait(60), "exit code of suspend")
    wait_until("the lane is paused", lambda: service.events("lane paused"))
    run.tool("delete", run.topic)
    run.create(1)
    run.produce("--count", NEW)
    expect_equal(0, run.command("resume", "resume", run.topic, "--admin", address).wait(60), "exit code of resume")
    wait_until("all of the new topic is processed", lambda: service.processed() == OLD + NEW)
    expect(service.events("offsets went back"), "the log does not say that the topic is another one")
    service.stop()
    expect_equal(NEW, run.committed()[run.topic, 0], "the committed offset of the new topic")


def taken_by_brokers(run):
    run.create(1)
    run.tool("produce", run.topic, "--count", OLD)
    service = run.service("service", commit={"interval": "1h" if STORY == "grown" else "500ms"})
    run.wait_for_progress(service, OLD)
    assigned = len(service.events("lane assigned"))
    if STORY == "empty":
        run.wait_for_no_lag()
        run.tool("delete", run.topic)
        wait_until("the brokers take the partition back", lambda: service.events("lane revoked"))
        run.create(1)
        wait_until("the lane is there again", lambda: len(service.events("lane assigned")) > assigned)
        run.produce("--count", NEW)
    else:
        service.signal(signal.SIGSTOP)
        run.tool("delete", run.topic)
        run.create(1)
        run.produce("--count", NEW)
        service.signal(signal.SIGCONT)
    # The lane of the old topic may have taken some of the new one before it heard; the next lane takes all of it.
    wait_until("all of the new topic is processed", lambda: service.in_journal('"epoch":2,') == NEW)
    service.stop()
    expect_equal(NEW, run.committed()[run.topic, 0], "the committed offset of the new topic")


if __name__ == "__main__":
    by_client = suspended if STORY == "suspended" else seen_by_client
    harness.main(f"recreate-{STORY}", taken_by_brokers if harness.GROUP_PROTOCOL == "consumer" else by_client)
