"""Brokers that refuse: each refusal has its own message, ends the start with 69, and costs nothing while running.

`scripts/kafka --secured` asks for a password and for rights; the user "worker" has none until a case grants them.
"""
import re

import harness
from bad_input import ends, ends_once_brokers_answered
from harness import expect, expect_equal, wait_until

USER, PASSWORD, WRONG = "worker", "worker-password", "canary-password"
BY_BROKERS = harness.GROUP_PROTOCOL == "consumer"
SESSION = 6.0  # s; the least that Kafka allows
REFUSED = "Authentication failed"
NEEDS_TOPIC = "the user needs Read on the topic"
NEEDS_GROUP = "the user needs Read on the group"


def login(password=PASSWORD):
    return {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": USER,
            "sasl.password": password, "session.timeout.ms": int(SESSION * 1000), "heartbeat.interval.ms": 1000,
            "topic.metadata.refresh.interval.ms": 1000}


class Place:
    """A topic and a group of their own, at which the user has the rights that are given here: {"topic": […], "group": […]}."""

    def __init__(self, run, name="", **given):
        self.run, self.topic, self.group = run, run.topic + name, run.group + name
        if name:
            run.create(1, topic=self.topic)
        for kind, names in given.items():
            self.rights("grant", kind, *names)

    def rights(self, verb, kind, *names):
        self.run.tool(verb, USER, kind, self.topic if kind == "topic" else self.group, *names)

    def start(self, name, password=PASSWORD, **changes):
        return self.run.service(name, kafka={**login(password), "group.id": self.group}, topics=[self.topic], **changes)

    def is_refused(self, name, *words, check=True, password=PASSWORD):
        """Both `run` and `check --connect` end with 69 and these words."""
        service = ends_once_brokers_answered(
            self.run, lambda deadline: self.start(f"{name}-{deadline}", password, start_deadline=deadline), 69, *words)
        expect_equal([], service.events("lane assigned"), f"lanes of {name}")
        if check:
            asks = self.run.command(f"{name}-check", "check", "--connect", "-c", str(self.run.folder / f"{service.name}.yaml"))
            ends(asks, 69, *words)
            self.run.services.remove(asks)


# Before anything was consumed.


def a_wrong_password(run):
    Place(run, "-wrong").is_refused("wrong-password", f"refuse the login of user {USER}", REFUSED, "sasl.password", password=WRONG)


def a_topic_that_is_not_shown(run):
    place = Place(run, "-hidden")
    place.is_refused("topic-hidden", f"topic {place.topic}: access denied", NEEDS_TOPIC)


def a_topic_that_is_shown_and_not_read(run):
    place = Place(run, "-unreadable", topic=["describe"])
    place.is_refused("topic-unreadable", f"topic {place.topic}: access denied", NEEDS_TOPIC)


def a_group_that_is_not_shown(run):
    place = Place(run, "-group-hidden", topic=["describe", "read"])
    place.is_refused("group-hidden", f"group {place.group}: access denied", NEEDS_GROUP)


def a_group_that_is_shown_and_not_joined(run):
    place = Place(run, "-closed", topic=["describe", "read"], group=["describe"])
    place.is_refused("group-closed", f"group {place.group}: access denied", NEEDS_GROUP, check=False)


def a_right_that_comes_before_the_deadline(run):
    place = Place(run, "-patient", topic=["describe"], group=["describe", "read"])
    service = place.start("patient", start_deadline="10m")
    wait_until("it waits", lambda: any(NEEDS_TOPIC in line for line in service.events("waiting for brokers and topics")))
    place.rights("grant", "topic", "read")
    wait_until("it started", lambda: service.events("lane assigned"))
    service.stop()


def settings_that_are_not_shown(run):
    """The check cannot know whether the dead-letter topic keeps its records, and names the right that is missing."""
    place = Place(run, "-veiled", topic=["describe", "read"], group=["describe", "read"])
    letters = Place(run, "-veiled-dlt", topic=["describe", "write"])
    service = place.start("veiled", dead_letter={"topic": "{topic}-dlt"})
    wait_until("it started", lambda: service.events("lane assigned"))
    service.stop()
    check = run.command("veiled-check", "check", "--connect", "-c", str(service.file))
    ends(check, 0, f"the settings of topic {letters.topic} are not visible", "DescribeConfigs")
    run.services.remove(check)


# While it runs: a right that is taken away comes back, and nothing is lost.


def failed_commits(service):
    """The log's line of one more may be one too many of its like in ten seconds, and left out."""
    return service.metric("commits_total", result="failure")


def goes_on(run, service):
    done = service.processed()
    run.wait_for_progress(service, done + 300)


def says(service, message, words):
    wait_until(f"{service.name} says {message!r} and {words!r}",
               lambda: any(words in line for line in service.events(message)))


def reading_is_taken_away(run, service):
    Place(run).rights("revoke", "topic", "read")
    says(service, "partition error", NEEDS_TOPIC)
    says(service, "commit failed", NEEDS_TOPIC)
    Place(run).rights("grant", "topic", "read")
    wait_until("it reads again", lambda: service.events("partition can be read again"))
    goes_on(run, service)


def the_topic_is_hidden(run, service):
    """Members look at the topic themselves, and leave it; brokers that distribute the partitions leave them to the member."""
    failed = failed_commits(service)
    Place(run).rights("revoke", "topic", "read", "describe")
    if BY_BROKERS:
        # First a fetch is refused; then the client looks at the topic, which it cannot see any more.
        says(service, "partition error", "no longer available (Broker: Topic authorization failed)")
        wait_until("commits fail", lambda: failed_commits(service) > failed)
    else:
        says(service, "client error", NEEDS_TOPIC)
        assigned = len(service.events("lane assigned"))
        wait_until("its lanes have ended", lambda: len(service.events("lane revoked")) >= assigned)
    Place(run).rights("grant", "topic", "read", "describe")
    goes_on(run, service)


def the_group_is_closed(run, service):
    lost, failed = len(service.events("partitions lost")), failed_commits(service)
    Place(run).rights("revoke", "group", "read", "describe")
    wait_until("commits fail", lambda: failed_commits(service) > failed)
    wait_until("its session has ended", lambda: len(service.events("partitions lost")) > lost)
    says(service, "client error", f"group {run.group}: access denied")
    Place(run).rights("grant", "group", "read", "describe")
    goes_on(run, service)


def ends_where_the_group_is_closed(run, service):
    """Whether the brokers distribute the partitions."""
    Place(run).rights("revoke", "group", "read", "describe")
    ends(service, 69, f"group {run.group}: access denied", NEEDS_GROUP)
    run.services.remove(service)  # from those that may end with no other code; the judge is to see it all the same
    Place(run).rights("grant", "group", "read", "describe")
    successor = Place(run).start("successor")
    goes_on(run, successor)
    return successor


def stops_at_once_where_the_group_is_closed(run, service):
    lost = len(service.events("partitions lost"))
    Place(run).rights("revoke", "group", "read", "describe")
    wait_until("its session has ended", lambda: len(service.events("partitions lost")) > lost)
    service.stop()


def no_password_is_told(run):
    for log in run.folder.glob("*.log"):
        said = log.read_text(errors="replace")
        for password in (PASSWORD, WRONG):
            expect(not re.search(re.escape(password), said), f"{log.name} tells a password")


def scenario(run):
    run.create(3)
    harness.at_once(run, STARTS)
    run.watch_commits()
    service = Place(run, topic=["describe", "read"], group=["describe", "read"]).start("service")
    run.produce_meanwhile("--rate", 500)
    members = [service]
    for case in CASES:
        goes_on(run, members[-1])
        members += filter(None, [case(run, members[-1])])
        print(f"{case.__name__}: passed")
    run.finish_writing()
    run.wait_for_no_lag()
    if BY_BROKERS:
        members[-1].stop()
        run.services.append(service)
    else:
        stops_at_once_where_the_group_is_closed(run, service)
    no_password_is_told(run)
    # Records that finished while nothing could be committed run again when the session has ended.
    run.judge(harness.Promises(stopped_clean=True, duplicates=10000))


STARTS = [a_wrong_password, a_topic_that_is_not_shown, a_topic_that_is_shown_and_not_read, a_group_that_is_not_shown,
          a_group_that_is_shown_and_not_joined, a_right_that_comes_before_the_deadline,
          settings_that_are_not_shown]
CASES = [reading_is_taken_away, the_topic_is_hidden, ends_where_the_group_is_closed if BY_BROKERS else the_group_is_closed]

if __name__ == "__main__":
    harness.main("denied", scenario, secured=True)
