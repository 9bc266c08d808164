"""The evidence of a run, read from JSON lines: the journals of the service, and the content of Kafka.

Nothing here is judged. A partition is a (topic, number) pair. An assignment is a (journal, epoch) pair: one process's
time with a partition.
"""
import json
import struct
from collections import defaultdict
from typing import NamedTuple, Optional


# What completes a record where it was read: done, or acknowledged by the topic where it goes on.
FINISHED = ("success", "dead_letter", "retry_topic", "parked")
# Ends of a move to another topic: not an attempt at the record, but what follows the last attempt.
FORWARDED = ("dead_letter", "dead_letter_failed", "retry_topic", "retry_topic_failed", "parked", "parked_failed")
# What is written to a retry topic: after an attempt that failed, or because its pool or subscriber does not take it.
TO_RETRY_TOPICS = ("retry_topic", "parked")
# Headers that describe where a copy came from begin so, the others are the record's own.
DESCRIPTIONS = ("kafka_dlt-", "__connect.errors.", "laneway-")


def described_origin(headers):
    """(topic, partition, offset) that the headers of a copy name; None if another program wrote the record."""
    def number(name, form):
        value = headers[name]
        return struct.unpack(form, value)[0] if name.startswith("kafka_dlt-") else int(value)

    for prefix in ("laneway-retry-", "kafka_dlt-original-", "__connect.errors."):
        if prefix + "topic" in headers:
            return headers[prefix + "topic"].decode(), number(prefix + "partition", ">i"), number(prefix + "offset", ">q")
    return None


def described_timestamp(headers):
    """The timestamp of the origin that the headers of a dead letter name; None if they name none."""
    if "kafka_dlt-original-timestamp" in headers:
        return struct.unpack(">q", headers["kafka_dlt-original-timestamp"])[0]
    return int(headers["laneway-original-timestamp"]) if "laneway-original-timestamp" in headers else None


class Attempt(NamedTuple):
    offset: int
    assignment: tuple
    number: int
    start: int  # ns since 1970, as end
    end: int
    outcome: str
    part: Optional[str] = None  # the sub-job; None: the whole record

    @property
    def succeeded(self):
        return self.outcome in FINISHED


class Record(NamedTuple):
    """All that a record bears, bytes in hexadecimal; headers as [name, value]."""

    key: Optional[str]
    value: Optional[str]
    timestamp: int
    headers: list


class Copy(NamedTuple):
    """A dead letter, or a record in a retry topic."""

    place: tuple  # (topic, partition, offset): where it is
    origin: tuple  # the same: where it began, as its headers say
    attempts: Optional[int]  # at it so far, as its headers say
    timestamp: Optional[int]  # of its origin, as its headers say
    part: Optional[str]  # the sub-job; None: the whole record
    record: Record


class Commits(NamedTuple):
    """The group's committed offsets as the broker answered at one time; a partition without one is absent."""

    time: int  # ns since 1970, after the answer came
    offsets: dict
    topics: Optional[frozenset] = None  # that were asked for; None: all that anybody asks for


class Evidence:
    def __init__(self):
        self.attempts = defaultdict(list)  # partition -> [Attempt]
        self.log = defaultdict(dict)  # partition -> {offset: key hash or None}, what a reader sees
        self.ends = {}  # partition -> log end offset
        self.lows = {}  # partition -> first offset that is kept
        self.records = {}  # (topic, partition, offset) -> Record, of the topics that were read in full
        self.copies = {"dead_letter": None, "retry_topic": None}  # outcome -> [Copy]; None: not read
        self.copies_at = {}  # (topic, partition, offset) -> Copy
        self.commits = []  # in the order of time
        self.acknowledged = defaultdict(set)  # partition -> offsets that were acknowledged to the producer
        self.torn = 0  # journals whose last line was cut by a kill

    def partitions(self):
        return sorted(set(self.attempts) | set(self.ends))

    def successes(self, partition):
        return [attempt for attempt in self.attempts[partition] if attempt.succeeded]

    def finished(self, partition):
        """{offset: when the record was finished}: as a whole, or the last of its sub-jobs that ran."""
        ends = defaultdict(dict)  # offset -> {sub-job: when it was finished for the first time, or None}
        for attempt in self.attempts[partition]:
            of_record = ends[attempt.offset]
            before = of_record.get(attempt.part)
            of_record[attempt.part] = min(attempt.end, before or attempt.end) if attempt.succeeded else before
        found = {}
        for offset, of_record in ends.items():
            whole = of_record.pop(None, None)
            if whole or (of_record and all(of_record.values())):
                found[offset] = whole or max(of_record.values())
        return found

    def last_commits(self):
        return self.commits[-1].offsets if self.commits else {}

    def add_journal(self, lines, name):
        """One process's journal. Only the last line may be torn: a file is written front to back."""
        lines = list(lines)
        for number, line in enumerate(lines, 1):
            try:
                fields = json.loads(line)
                attempt = Attempt(fields["offset"], (name, fields["epoch"]), fields["attempt"], fields["start"],
                                  fields["end"], fields["outcome"], fields.get("part"))
            except (ValueError, KeyError) as error:
                if number == len(lines) and not line.endswith("\n"):
                    self.torn += 1
                    continue
                raise ValueError(f"{name}:{number}: not a line of a journal ({error}): {line[:200]!r}") from error
            if attempt.outcome != "passed_on":  # the record is not finished, and its attempts count anew in its next pool
                self.attempts[fields["topic"], fields["partition"]].append(attempt)

    def add_log(self, lines):
        """The output of kafka_tool dump."""
        for fields in map(json.loads, lines):
            partition = (fields["topic"], fields["partition"])
            if "end" in fields:
                self.ends[partition], self.lows[partition] = fields["end"], fields["low"]
            else:
                self.log[partition][fields["offset"]] = fields["key"]

    def add_records(self, topic, lines):
        """The output of kafka_tool read."""
        for fields in map(json.loads, lines):
            self.records[topic, fields["partition"], fields["offset"]] = Record(
                fields["key"], fields["value"], fields["timestamp"], fields["headers"])

    def add_copies(self, outcome, topic, lines):
        """The output of kafka_tool read for a topic to which records go that end with this outcome."""
        found = []
        for fields in map(json.loads, lines):
            headers = {name: bytes.fromhex(value) for name, value in fields["headers"] if value is not None}
            place, origin = (topic, fields["partition"], fields["offset"]), described_origin(headers)
            attempts = headers.get("laneway-attempts", headers.get("laneway-retry-attempts"))
            if origin is not None:
                part = headers.get("laneway-part")
                found.append(Copy(place, origin, attempts and int(attempts), described_timestamp(headers), part and part.decode(), Record(
                    fields["key"], fields["value"], fields["timestamp"], fields["headers"])))
        self.copies[outcome] = (self.copies[outcome] or []) + found
        self.copies_at.update((copy.place, copy) for copy in found)

    def copy_at(self, partition, offset):
        """None for a record that began there."""
        return self.copies_at.get((*partition, offset))

    def add_commits(self, lines, time, topics=None):
        """The output of kafka_tool committed, read at `time`."""
        offsets = {}
        for fields in map(json.loads, lines):
            if fields["offset"] is not None:
                offsets[fields["topic"], fields["partition"]] = fields["offset"]
        self.commits.append(Commits(time, offsets, topics and frozenset(topics)))

    def add_acknowledgements(self, lines):
        """A file written by kafka_tool produce --acks-file."""
        for fields in map(json.loads, lines):
            self.acknowledged[fields["topic"], fields["partition"]].add(fields["offset"])
