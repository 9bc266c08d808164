"""A pattern finds the same topics under both protocols, also those that come later, but neither the dead letters of the service, nor
those of its dead letters, nor what exclude_topics leaves out. The brokers create topics that clients ask for, as they do by default:
there are no more topics than the service should write to, and none because of a question."""
import json

import harness
import wire
from bad_input import ends
from harness import expect_equal, wait_until
from web_service import WebService


class Refuses(WebService):
    def judge(self, headers, body):
        return 400


def consumed(service):
    return {lane["topic"] for lane in json.loads(service.get("/status"))["lanes"]}


def all_topics(run):
    return {topic for topic, _ in wire.partitions_of(run.admin_bootstrap, None) if not topic.startswith("__")}


def expect_checks(run, service, left_out):
    """The check of the file names what the pattern leaves out in general, and the check of the brokers each topic."""
    def check(name, *options, code=0, words=(), file=service.file):
        asked = run.command(name, "check", *options, "-c", str(file))
        ends(asked, code, *words)
        run.services.remove(asked)
    check("check", words=["the pattern in topics leaves out: exclude_topics, dead_letter.topic {topic}-dlt"])
    check("check-brokers", "--connect", words=[f"left out: topic {topic} ({key})" for topic, key in left_out.items()])
    missing = run.folder / "missing.yaml"
    missing.write_text(json.dumps({**service.settings, "topics": [run.topic + "-typo"], "exclude_topics": []}))
    check("check-missing", "--connect", code=69, words=[f"topic {run.topic}-typo does not exist"], file=missing)


def scenario(run):
    base = run.topic
    orders, of_europe, mine = base, f"{base}-eu", f"my-{base}"
    of_asia, letters, of_letters = f"{base}-asia", f"{base}-eu-dlt", f"{base}-eu-dlt-dlt"

    def reader(name, pattern, **changes):
        kafka = {"group.id": f"{run.group}-{name}", "topic.metadata.refresh.interval.ms": 500}
        return run.service(name, kafka=kafka, topics=[pattern], **changes)

    for topic in (orders, of_europe, mine, letters):
        run.create(2, topic=topic)
    expected = {
        f"^{base}": {orders, of_europe, letters},  # a search from the beginning, as the client's own
        f"^{base}$": {orders},
        f"^({base}|my-{base})$": {orders, mine},
        f"^{base}-[a-z]+$": {of_europe},
        f"^nothing|{base}$": {orders, mine},  # the second branch is found anywhere
    }
    readers = {pattern: reader(f"reader-{i}", pattern) for i, pattern in enumerate(expected)}
    for pattern, topics in expected.items():
        wait_until(f"{pattern} finds {sorted(topics)}", lambda: consumed(readers[pattern]) == topics)
    careful = reader("careful", f"^{base}", dead_letter={"topic": "{topic}-dlt"}, exclude_topics=[mine, f"^{base}-a"],
                     handler={"simulate": None, "http": {"url": Refuses().url()}})
    wait_until("no dead letters and nothing excluded is found", lambda: consumed(careful) == {orders, of_europe})
    run.create(2, topic=of_letters)
    run.create(2, topic=of_asia)
    # Readers without dead letters of their own find those of others, which the careful one has made.
    expected[f"^{base}"] |= {of_letters, f"{base}-dlt"}
    expected[f"^{base}-[a-z]+$"].add(f"{base}-dlt")
    for pattern in (f"^{base}", f"^{base}-[a-z]+$"):
        wait_until(f"{pattern} finds the new topic", lambda: consumed(readers[pattern]) == expected[pattern] | {of_asia})
    for pattern in (f"^{base}$", f"^({base}|my-{base})$"):
        expect_equal(expected[pattern], consumed(readers[pattern]), f"topics of {pattern} when the others have the new one")
    group, run.group = run.group, f"{run.group}-reader-0"
    topics = [orders, of_europe, letters, of_asia, of_letters]
    for topic in topics:
        run.produce("--count", 100, topic=topic)
    run.wait_for_no_lag(topics)
    run.group = f"{group}-careful"
    run.wait_for_no_lag([orders, of_europe])
    expect_equal(200, careful.metric("dead_letters_total"), "dead letters")
    expect_equal({orders, of_europe}, consumed(careful), "topics of the service with dead letters")
    expect_checks(run, careful, {letters: "dead_letter.topic", of_letters: "dead_letter.topic", of_asia: "exclude_topics"})
    expect_equal({*topics, mine, f"{base}-dlt"}, all_topics(run), "topics of the brokers")
    for service in [*readers.values(), careful]:
        service.stop()
    expect_equal({*topics, mine, f"{base}-dlt"}, all_topics(run), "topics of the brokers after the stop")


if __name__ == "__main__":
    harness.main("patterns", scenario, own_kafka=True, broker=["auto.create.topics.enable=true"])
