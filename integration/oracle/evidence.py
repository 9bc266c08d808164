"""What is known of a run, read from JSON lines: what the service says it did (journals), and what Kafka says there is.

Nothing here is judged. A partition is a (topic, number) pair. An assignment is a (journal, epoch) pair: one process's
time with a partition.
"""
import json
from collections import defaultdict
from typing import NamedTuple


# What completes a record where it was read: done, or acknowledged by the topic where it goes on.
FINISHED = ("success", "dead_letter", "retry_topic")


class Attempt(NamedTuple):
    offset: int
    assignment: tuple
    number: int
    start: int  # ns since 1970, as end
    end: int
    outcome: str

    @property
    def succeeded(self):
        return self.outcome in FINISHED


class Commits(NamedTuple):
    """The group's committed offsets as the broker answered at one time; a partition without one is absent."""

    time: int  # ns since 1970, after the answer came
    offsets: dict


class Evidence:
    def __init__(self):
        self.attempts = defaultdict(list)  # partition -> [Attempt]
        self.log = defaultdict(dict)  # partition -> {offset: key hash or None}, what a reader sees
        self.ends = {}  # partition -> log end offset
        self.lows = {}  # partition -> first offset that is kept
        self.commits = []  # in the order of time
        self.acknowledged = defaultdict(set)  # partition -> offsets that the producer was told of
        self.torn = 0  # journals whose last line was cut by a kill

    def partitions(self):
        return sorted(set(self.attempts) | set(self.ends))

    def successes(self, partition):
        return [attempt for attempt in self.attempts[partition] if attempt.succeeded]

    def last_commits(self):
        return self.commits[-1].offsets if self.commits else {}

    def add_journal(self, lines, name):
        """One process's journal. Only the last line may be torn: a file is written front to back."""
        lines = list(lines)
        for number, line in enumerate(lines, 1):
            try:
                fields = json.loads(line)
                attempt = Attempt(fields["offset"], (name, fields["epoch"]), fields["attempt"], fields["start"],
                                  fields["end"], fields["outcome"])
            except (ValueError, KeyError) as error:
                if number == len(lines) and not line.endswith("\n"):
                    self.torn += 1
                    continue
                raise ValueError(f"{name}:{number}: not a line of a journal ({error}): {line[:200]!r}") from error
            self.attempts[fields["topic"], fields["partition"]].append(attempt)

    def add_log(self, lines):
        """The output of kafka_tool dump."""
        for fields in map(json.loads, lines):
            partition = (fields["topic"], fields["partition"])
            if "end" in fields:
                self.ends[partition], self.lows[partition] = fields["end"], fields["low"]
            else:
                self.log[partition][fields["offset"]] = fields["key"]

    def add_commits(self, lines, time):
        """The output of kafka_tool committed, read at `time`."""
        offsets = {}
        for fields in map(json.loads, lines):
            if fields["offset"] is not None:
                offsets[fields["topic"], fields["partition"]] = fields["offset"]
        self.commits.append(Commits(time, offsets))

    def add_acknowledgements(self, lines):
        """A file written by kafka_tool produce --acks-file."""
        for fields in map(json.loads, lines):
            self.acknowledged[fields["topic"], fields["partition"]].add(fields["offset"])
