"""A pattern finds the same topics under both protocols, whether the client or the brokers look for them: also those that come later, and
none of the dead letters that it would not have found."""
import json

import harness
from harness import expect_equal, wait_until


def consumed(service):
    return {lane["topic"] for lane in json.loads(service.get("/status"))["lanes"]}


def scenario(run):
    base = run.topic
    orders, of_europe, mine = base, f"{base}-eu", f"my-{base}"
    of_asia, letters = f"{base}-asia", f"{base}-eu-dlt"

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
    run.create(2, topic=of_asia)
    for pattern in (f"^{base}", f"^{base}-[a-z]+$"):
        wait_until(f"{pattern} finds the new topic", lambda: consumed(readers[pattern]) == expected[pattern] | {of_asia})
    for pattern in (f"^{base}$", f"^({base}|my-{base})$"):
        expect_equal(expected[pattern], consumed(readers[pattern]), f"topics of {pattern} when the others have the new one")
    run.group = f"{run.group}-reader-0"
    topics = [orders, of_europe, letters, of_asia]
    for topic in topics:
        run.produce("--count", 100, topic=topic)
    run.wait_for_no_lag(topics)
    for service in readers.values():
        service.stop()


if __name__ == "__main__":
    harness.main("patterns", scenario)
