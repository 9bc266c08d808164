"""The recorded facts of a run with faults. Nothing here is judged.

A partition is a (topic, number) pair. Times are ns since 1970 of one machine's clock, but for what Kafka wrote down: that is in
ms, as Kafka has it. A member is one laneway process; its name is its client.id, and in the URL that it posts to.
"""
from dataclasses import dataclass, field
from typing import NamedTuple, Optional


class Acknowledged(NamedTuple):
    """The producer received the acknowledgement of this record."""

    partition: tuple
    offset: int
    number: int  # the producer's own
    time: int


class Request(NamedTuple):
    """A request of a member to the downstream."""

    member: str
    partition: tuple
    offset: int
    key: str
    number: int  # the producer's, from the value
    attempt: int
    begun: int
    ended: int  # before the answer was written; or when the member's connection was seen to be closed
    status: Optional[int]  # None: it got no answer

    @property
    def done(self):
        return self.status is not None and 200 <= self.status < 300


class Commit(NamedTuple):
    position: int  # in the log of __consumer_offsets: the order of all commits and generations of a group
    time: Optional[int]  # ms, when the coordinator took it; None: the offset was deleted
    partition: tuple
    offset: Optional[int]  # the watermark
    runs: tuple  # ((begin, end), …) of the completion map

    def covers(self, offset):
        return self.offset is not None and (
            offset < self.offset or any(begin <= offset < end for begin, end in self.runs))


class Generation(NamedTuple):
    position: int
    time: int  # ms
    number: int
    members: dict  # the coordinator's id of a member -> its client.id
    owners: dict  # partition -> the coordinator's id of a member
    protocol: str = "range"  # the strategy
    claims: dict = {}  # the coordinator's id of a member -> the partitions that it said it had when it joined


class Fencing(NamedTuple):
    """A broker's log reports that it expelled a member from the group."""

    member: str
    time: int


@dataclass
class Life:
    """The faults of a member, and its end."""

    started: int
    killed: Optional[int] = None
    terminated: Optional[int] = None
    exited: Optional[int] = None  # by itself or after SIGTERM
    code: Optional[int] = None
    stops: list = field(default_factory=list)  # [(SIGSTOP, SIGCONT)]


class Fault(NamedTuple):
    kind: str
    what: str
    begun: int
    ended: int

    @property
    def of_brokers(self):
        return self.kind in ("kill broker", "stop broker", "roll broker", "kill coordinator")

    @property
    def keeps_commits_away(self):
        return self.of_brokers or self.kind == "take rights"


class Parked(NamedTuple):
    """A record that was written to a retry topic because its pool did not take it."""

    number: int  # the producer's
    time: int  # when it was written there first


@dataclass
class Facts:
    acknowledged: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    commits: list = field(default_factory=list)  # in the order of their positions
    generations: list = field(default_factory=list)  # likewise
    fencings: list = field(default_factory=list)  # in the order of their time
    lives: dict = field(default_factory=dict)  # member -> Life
    faults: list = field(default_factory=list)
    log: dict = field(default_factory=dict)  # partition -> offsets that a reader sees at the end
    ends: dict = field(default_factory=dict)  # partition -> the end of its log
    letters: list = field(default_factory=list)  # (topic, partition, offset) of dead letters
    passed_on: dict = field(default_factory=dict)  # (topic, partition, offset) -> number of a record in a retry topic
    parked: dict = field(default_factory=dict)  # (topic, partition, offset) -> Parked; they are in `passed_on`, too
    letter_numbers: dict = field(default_factory=dict)  # dead letter -> the producer's number
    letters_allowed: int = 0  # of records that work: some outages cost a few, which failed while others worked
    poison: set = field(default_factory=set)  # the producer's numbers of the records that never work
    deleted: list = field(default_factory=list)  # Acknowledged records that retention deleted; they are not in `acknowledged`
    gaps: dict = field(default_factory=dict)  # partition -> [(begin, end)] of deleted records that the members' logs tell of
    corrupt: set = field(default_factory=set)  # (topic, partition, offset) of records whose batch was made unreadable
    anew: list = field(default_factory=list)  # Acknowledged of a topic that was deleted and made anew, since then
    other_requests: list = field(default_factory=list)  # those for records of that topic, or of retry topics; not in `requests`
    ordered: bool = True  # by key
    begun: int = 0
    finished: int = 0  # the group had no lag, or the run had waited long enough for that
