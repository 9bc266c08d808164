"""What happened to the records, from evidence that no consumer can embellish: the producers' acknowledgements, the journals of the
consumers (a line for each attempt), and the offsets that the broker has. Files are read; nothing is judged here.
"""
import contextlib
import json
from collections import defaultdict
from typing import NamedTuple

FINISHED = {"success", "dead_letter", "retry_topic", "parked"}  # outcomes after which the record is finished where it was read
DONE = b'"outcome":"success"'


class Attempt(NamedTuple):
    """A line of a journal."""

    place: tuple  # (topic, partition, offset)
    journal: str  # the name of the process that wrote it
    start: int  # ns since 1970, as end
    end: int
    outcome: str
    fields: dict  # the line

    @property
    def finished(self):
        return self.outcome in FINISHED


class Tail:
    """Counts the successes in a journal while it grows: each call reads what is new."""

    def __init__(self, file):
        self.file, self.position, self.count, self.rest = file, 0, 0, b""

    def finished(self):
        with contextlib.suppress(FileNotFoundError), open(self.file, "rb") as journal:
            journal.seek(self.position)
            new = journal.read()
            self.position += len(new)
            lines, _, self.rest = (self.rest + new).rpartition(b"\n")
            self.count += lines.count(DONE)
        return self.count


def attempts(file, name=None):
    """The attempts of a journal; a last line that a kill has cut is left out."""
    with contextlib.suppress(FileNotFoundError), open(file, encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                return
            fields = json.loads(line)
            yield Attempt((fields["topic"], fields["partition"], fields["offset"]), name or file.stem, fields["start"],
                          fields["end"], fields["outcome"], fields)


def acknowledged(*files):
    """{(topic, partition, offset): when, in ns since 1970} of the records that the broker has acknowledged."""
    places = {}
    for file in files:
        with contextlib.suppress(FileNotFoundError), open(file, encoding="utf-8") as lines:
            for fields in map(json.loads, lines):
                places[fields["topic"], fields["partition"], fields["offset"]] = fields["time"]
    return places


def waits(acknowledged_at, found):
    """Seconds from a record's acknowledgement to the first start of its work, sorted. `found`: of successes()."""
    return sorted((min(attempt.start for attempt in found[place]) - time) / 1e9
                  for place, time in acknowledged_at.items() if place in found)


def percentile(ordered, percent):
    """Of sorted values; nan if there are none."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else float("nan")


def successes(journals):
    """{place: its attempts that finished the record, in the order of their end}. `journals`: files."""
    found = defaultdict(list)
    for file in journals:
        for attempt in attempts(file):
            if attempt.finished:
                found[attempt.place].append(attempt)
    for all_of in found.values():
        all_of.sort(key=lambda attempt: attempt.end)
    return found
