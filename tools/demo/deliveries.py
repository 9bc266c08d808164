"""What became of the events that were to go to subscribers: from the topic, the dead-letter topic, and what the receivers keep.

An event is known by its body, so the bodies of a topic differ. Nothing is judged here.
"""
import json
from collections import Counter
from typing import NamedTuple

PART = "laneway-part"  # the header that names the sub-job of a dead letter


class Event(NamedTuple):
    place: tuple  # (topic, partition, offset)
    type: str  # of its header `type`


def headers_of(line):
    return {name: bytes.fromhex(value) for name, value in line["headers"] if value is not None}


def events(topic, lines):
    """{body: Event} of what `kafka_tool read` prints, without dead letters that were sent back."""
    found = {}
    for line in lines:
        if "value" in line and PART not in (headers := headers_of(line)):
            found[bytes.fromhex(line["value"])] = Event((topic, line["partition"], line["offset"]), headers["type"].decode())
    return found


def letters(lines):
    """{name of a subscriber: bodies} of what `kafka_tool read` prints of the dead-letter topic."""
    found = {}
    for line in lines:
        if "value" in line:
            found.setdefault(headers_of(line).get(PART, b"").decode(), set()).add(bytes.fromhex(line["value"]))
    return found


class Row:
    """One subscriber. `expected`: bodies; `allowed`: more bodies that it may get; `deliveries`: of its receiver; `letters`: bodies."""

    def __init__(self, name, expected, deliveries, letters=(), allowed=frozenset()):
        self.name, self.expected, self.letters = name, set(expected), set(letters)
        times = Counter(delivery.body for delivery in deliveries)
        self.delivered = set(times)
        self.repeated = {body for body, count in times.items() if count > 1}
        self.missing = self.expected - self.delivered - self.letters
        self.strange = (self.delivered | self.letters) - self.expected - set(allowed)
        self.times = sorted(delivery.time for delivery in deliveries)

    @property
    def rate(self):
        """Deliveries a second, from the first to the last."""
        seconds = (self.times[-1] - self.times[0]) / 1e9 if self.times else 0
        return (len(self.times) - 1) / seconds if seconds else 0.0

    def most_in(self, seconds):
        """The most deliveries in any time of this length."""
        most = first = 0
        for last, time in enumerate(self.times):
            while time - self.times[first] > seconds * 1e9:
                first += 1
            most = max(most, last - first + 1)
        return most


def place_of(identity):
    """(topic, partition, offset) and the name in a webhook-id: [CLUSTER/]TOPIC/PARTITION/OFFSET/NAME."""
    topic, partition, offset, name = identity.replace("%2E", ".").split("/")[-4:]
    return (topic, int(partition), int(offset)), name


def unfinished(found, rows):
    """The places of the events that a subscriber has neither got nor has as a dead letter. `found`: of events()."""
    return {found[body].place for row in rows for body in row.missing}


def as_json(**fields):
    """A body for `kafka_tool produce --value`: {} in it stands for the record's number."""
    return json.dumps(fields | {"number": 0}).replace('"number": 0', '"number": {}')
