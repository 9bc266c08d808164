"""A dead-letter topic that an administrator compacted is refused by the check and by the start, and the message names the way out. Both
warn of a dead-letter topic or a retry topic that keeps its records too briefly. A service whose dead-letter topic is compacted later, or
deleted, consumes on, also with new members, says so in /readyz, and goes on when the topic is as it should be. So does a service whose
retry topic is deleted, which it also consumes. A retry topic's record has the time at which it was written: an old record would be
deleted there by its age."""
import json
import time

import harness
from bad_input import ends
from harness import expect, expect_equal, wait_until
from web_service import WebService

MORE = 20  # partitions: more than the memory is divided among
DAY = 86400  # s
REFUSED = 78  # exit code of a wrong configuration


class Refuses(WebService):
    def judge(self, headers, body):
        return 422


def reason(service):
    """Why the service is not ready, or what its only lane waits for."""
    status = json.loads(service.get("/status"))
    oldest = [lane["oldest"].get("error", "") for lane in status["lanes"] if lane["oldest"]]
    return " ".join([reason["text"] for reason in status["reasons"]] + oldest)


def expect_check(run, name, settings, code, *words):
    """`laneway check --connect` of these settings ends with this code and these words."""
    file = run.folder / f"{name}.yaml"
    file.write_text(json.dumps(run.settings(name, **settings)))
    check = run.command(name, "check", "--connect", "-c", str(file))
    ends(check, code, *words)
    run.services.remove(check)


def expect_checks_of_retry_topics(run, settings):
    """Their settings are checked as those of the dead-letter topics are."""
    retry, settings = run.topic + "-retry-10m", {**settings, "retry": {"topics": ["10m"]}}
    run.create(1, "retention.ms=300000", topic=retry)
    expect_check(run, "check-brief-retry", settings, 0, f"warning: retry topic {retry} keeps records for 5m")
    run.tool("configure", retry, "cleanup.policy=compact")
    expect_check(run, "check-compacted-retry", settings, REFUSED, f"retry topic {retry} is compacted", "cleanup.policy=delete")


class Fails(WebService):
    def judge(self, headers, body):
        return 500


def a_deleted_retry_topic(run):
    with run.part("retry-topic-deleted") as part:
        part.create(1)
        retry = part.topic + "-retry-1h"
        service = part.service("service", handler={"simulate": None, "http": {"url": Fails().url()}}, breaker={"failures": 0},
                               retry={"attempts": 2, "backoff": "50ms", "topics": ["1h"]}, dead_letter={"topic": "{topic}-dlt"},
                               kafka={"topic.metadata.refresh.interval.ms": 500})
        wait_until("both topics are consumed", lambda: len(service.events("lane assigned")) == 2)
        part.tool("delete", retry)
        part.produce("--count", 1)
        wait_until("the missing topic is named", lambda: f"record not written to {retry}" in reason(service)
                   and "the topic does not exist" in reason(service))
        part.create(1, topic=retry)
        part.wait_for_no_lag()
        expect_equal([(0, 1)], list(part.watermarks([retry]).values()), "offsets of the new retry topic")
        service.stop()


class FailsAtFirst(WebService):
    def judge(self, headers, body):
        return 500 if int(headers["Laneway-Attempt"]) == 1 else 204


def an_old_record_in_a_retry_topic(run):
    with run.part("retry-topic-old") as part:
        retry, old = part.topic + "-retry-2s", int((time.time() - 30 * DAY) * 1000)
        part.create(1, "retention.ms=-1")
        part.create(1, f"retention.ms={3 * DAY * 1000}", topic=retry)
        part.write([{"partition": 0, "value": b"old".hex(), "timestamp": old}])
        service = part.service("service", handler={"simulate": None, "http": {"url": FailsAtFirst().url()}}, breaker={"failures": 0},
                               retry={"attempts": 1, "topics": ["2s"]}, dead_letter={"topic": "{topic}-dlt"})
        wait_until("the record is in the retry topic", lambda: service.metric("retry_topics_total") == 1)
        record = next((line for line in map(json.loads, part.tool("read", retry)) if "value" in line), None)
        expect(record and record["timestamp"] > old + 29 * DAY * 1000, f"the record in the retry topic has the time of the old record: {record}")
        wait_until("the record is done", lambda: service.processed() == 1)
        service.stop()


def scenario(run):
    letters = run.topic + "-dlt"
    receiver = Refuses()
    run.create(1)
    run.create(1, "cleanup.policy=compact,delete", "retention.ms=3600000", topic=letters)
    settings = {"handler": {"simulate": None, "http": {"url": receiver.url()}}, "dead_letter": {"topic": "{topic}-dlt"},
                "retry": {"backoff": "50ms", "max_backoff": "200ms"}}
    refused = run.service("refused", **settings)
    expect_equal(REFUSED, refused.wait(60), "exit code with a compacted dead-letter topic")
    expect(f"dead-letter topic {letters} is compacted" in refused.log, f"the log: {refused.log}")
    expect("cleanup.policy=delete" in refused.log, "the message does not name the way out")
    run.services.remove(refused)
    expect_check(run, "check-compacted", settings, REFUSED, f"dead-letter topic {letters} is compacted", "cleanup.policy=delete")

    run.tool("configure", letters, "retention.ms=3600000")
    expect_check(run, "check-brief", settings, 0, f"warning: dead-letter topic {letters} keeps dead letters for only 1h")
    expect_checks_of_retry_topics(run, settings)
    service = run.service("service", kafka={"topic.metadata.refresh.interval.ms": 500}, **settings)
    wait_until("a short retention is a warning", lambda: service.events("a topic loses records"))
    run.tool("configure", letters, "cleanup.policy=compact")
    run.tool("add-partitions", run.topic, MORE)
    wait_until("the members start over", lambda: service.events("starting over to divide lanes.memory among more partitions"))
    wait_until("the service has consumed, and goes on", lambda: service.events("a topic cannot take records")
               and len(json.loads(service.get("/status"))["lanes"]) == MORE)
    run.produce("--count", 1, "--null-keys")
    wait_until("the cause is named", lambda: "record not written to " + letters in reason(service)
               and "the topic is compacted and the record has no key" in reason(service))
    run.tool("configure", letters, "cleanup.policy=delete")
    run.wait_for_no_lag()
    expect_equal(1, service.metric("dead_letters_total"), "dead letters")

    run.tool("delete", letters)
    run.produce("--count", 1, "--null-keys")
    wait_until("the missing topic is named", lambda: "record not written to " + letters in reason(service)
               and "the topic does not exist" in reason(service))
    run.create(1, topic=letters)
    run.wait_for_no_lag()
    service.stop()
    a_deleted_retry_topic(run)
    an_old_record_in_a_retry_topic(run)


if __name__ == "__main__":
    harness.main("letter_topics", scenario)
