"""Brokers that refuse: each refusal is told as what it is, ends the start with 69, and costs nothing while running.

`scripts/kafka --secured` asks for a password and for rights; the user "worker" has none until a case grants them.
"""
import re

import harness
from bad_input import ends
from harness import Failed, expect, expect_equal, wait_until

USER, PASSWORD, WRONG = "worker", "worker-password", "canary-password"
SESSION = 6.0  # s; the least that Kafka allows
REFUSED = "Authentication failed"
NEEDS_TOPIC = "the user needs Read on the topic"
NEEDS_GROUP = "the user needs Read on the group"


def login(password=PASSWORD):
    return {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": USER,
            "sasl.password": password, "session.timeout.ms": int(SESSION * 1000), "heartbeat.interval.ms": 1000,
            "topic.metadata.refresh.interval.ms": 1000}


def rights(run, verb, kind, *names):
    run.tool(verb, USER, kind, run.topic if kind == "topic" else run.group, *names)


def start(run, name, **changes):
    return run.service(name, kafka=login(), **changes)


def is_refused(run, name, *words, check=True, password=PASSWORD):
    """Both `run` and `check --connect` end with 69 and these words."""
    service = run.service(name, kafka=login(password), start_deadline="6s")
    ends(service, 69, *words)
    expect_equal([], service.events("lane assigned"), f"lanes of {name}")
    run.services.remove(service)
    if check:
        asks = run.command(f"{name}-check", "check", "--connect", "-c", str(run.folder / f"{name}.yaml"))
        ends(asks, 69, *words)
        run.services.remove(asks)


# Before anything was consumed.


def a_wrong_password(run):
    is_refused(run, "wrong-password", f"refuse the login of user {USER}", REFUSED, "sasl.password", password=WRONG)


def a_topic_that_is_not_shown(run):
    is_refused(run, "topic-hidden", f"topic {run.topic}: access denied", NEEDS_TOPIC)


def a_topic_that_is_shown_and_not_read(run):
    rights(run, "grant", "topic", "describe")
    is_refused(run, "topic-unreadable", f"topic {run.topic}: access denied", NEEDS_TOPIC)
    rights(run, "grant", "topic", "read")


def a_group_that_is_not_shown(run):
    is_refused(run, "group-hidden", f"group {run.group}: access denied", NEEDS_GROUP)


def a_group_that_is_shown_and_not_joined(run):
    rights(run, "grant", "group", "describe")
    is_refused(run, "group-closed", f"group {run.group}: access denied", NEEDS_GROUP, check=False)
    rights(run, "grant", "group", "read")


def a_right_that_comes_before_the_deadline(run):
    rights(run, "revoke", "topic", "read")
    service = run.service("patient", kafka=login(), start_deadline="60s")
    wait_until("it waits", lambda: any(NEEDS_TOPIC in line for line in service.events("waiting for brokers and topics")))
    rights(run, "grant", "topic", "read")
    wait_until("it started", lambda: service.events("lane assigned"))
    service.stop()


# While it runs: what is taken away comes back, and nothing is lost.


def goes_on(run, service):
    done = service.processed()
    run.wait_for_progress(service, done + 500)


def says(service, message, words):
    wait_until(f"{service.name} says {message!r} and {words!r}",
               lambda: any(words in line for line in service.events(message)))


def reading_is_taken_away(run, service):
    rights(run, "revoke", "topic", "read")
    says(service, "partition error", NEEDS_TOPIC)
    says(service, "commit failed", NEEDS_TOPIC)
    rights(run, "grant", "topic", "read")
    wait_until("it reads again", lambda: service.events("partition answers again"))
    goes_on(run, service)


def the_topic_is_hidden(run, service):
    rights(run, "revoke", "topic", "read", "describe")
    says(service, "client error", NEEDS_TOPIC)
    assigned = len(service.events("lane assigned"))
    wait_until("its lanes have ended", lambda: len(service.events("lane revoked")) >= assigned)
    rights(run, "grant", "topic", "read", "describe")
    goes_on(run, service)


def the_group_is_closed(run, service):
    rights(run, "revoke", "group", "read", "describe")
    says(service, "commit failed", NEEDS_GROUP)
    wait_until("its session has ended", lambda: service.events("partitions lost"))
    says(service, "client error", f"group {run.group}: access denied")
    rights(run, "grant", "group", "read", "describe")
    goes_on(run, service)


def stops_at_once_where_the_group_is_closed(run, service):
    lost = len(service.events("partitions lost"))
    rights(run, "revoke", "group", "read", "describe")
    wait_until("its session has ended", lambda: len(service.events("partitions lost")) > lost)
    service.stop()


def no_password_is_told(run):
    for log in run.folder.glob("*.log"):
        said = log.read_text(errors="replace")
        for password in (PASSWORD, WRONG):
            expect(not re.search(re.escape(password), said), f"{log.name} tells a password")


def scenario(run):
    run.create(3)
    failures = []
    for case in STARTS:
        try:
            case(run)
        except Failed as failure:
            failures.append(f"{case.__name__}: {failure}")
    expect(not failures, "\n".join(failures))
    run.watch_commits()
    service = start(run, "service")
    run.produce_meanwhile("--rate", 500)
    for case in (reading_is_taken_away, the_topic_is_hidden, the_group_is_closed):
        goes_on(run, service)
        case(run, service)
        print(f"{case.__name__}: passed")
    run.finish_writing()
    run.wait_for_no_lag()
    stops_at_once_where_the_group_is_closed(run, service)
    no_password_is_told(run)
    # What was done while nothing could be committed runs again when the session has ended.
    run.judge(harness.Promises(stopped_clean=True, duplicates=10000))


STARTS = [a_wrong_password, a_topic_that_is_not_shown, a_topic_that_is_shown_and_not_read, a_group_that_is_not_shown,
          a_group_that_is_shown_and_not_joined, a_right_that_comes_before_the_deadline]

if __name__ == "__main__":
    harness.main("denied", scenario, own_kafka=True, secured=True)
