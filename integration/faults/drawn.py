"""From a seed to a story: a configuration, a load and faults that overlap. Pure: the same seed gives the same story.

It is the large kind of tests/stories, with the same words: a real Kafka, which other tests share, real processes, and faults of what
is around a service. The faults of brokers are in plan.py.
"""
import random
from dataclasses import dataclass, field, replace
from typing import NamedTuple

WINDOW = 14.0  # s in which faults begin
BURST_RATE = 5  # records a second after a burst: nearly silence
KINDS = ("kill member", "stop member", "terminate member", "join", "add partitions",
         "503", "500", "hang", "refuse", "tls", "one out", "reload", "suspend", "skip", "redrive", "retention", "recreate topic",
         "take rights", "corrupt batch", "retention in a drain",
         "certificate in a drain")
FEW = (2, 14, 27, 29, 63, 76, 79, 81, 85, 96)  # seeds that together have every kind of fault
ONE = "key-1"  # keys that begin so have a pool of their own
ANOTHER = "key-2"  # keys that begin so share a pool with the other ones
DOWNSTREAM = ("503", "500", "hang", "refuse", "tls")


class Fault(NamedTuple):
    at: float  # s since the load began
    kind: str
    lasts: float  # s
    choice: int


@dataclass(frozen=True)
class Story:
    seed: int
    partitions: int = 4
    members: int = 2
    consumers: int = 1
    protocol: str = "classic"
    strategy: str = "cooperative-sticky"  # under classic
    handler: str = "http"
    static_ids: bool = False
    pattern: bool = False
    batch: int = 0  # records of a request; 0: each has its own
    order: str = "none"
    pools: bool = False
    each: bool = False  # a limit and a breaker for each key of the first pool
    park_after: int = 2  # s; 0: nothing is parked
    workers: int = 8
    queue: int = 64
    attempts: int = 3
    retry_topics: tuple = ()
    drain: int = 10  # s
    drain_queued: str = "finish"
    interval: str = "500ms"  # of commits
    rate: int = 200  # records a second
    burst: int = 0  # records at once at the beginning, after which little comes, or nothing
    silent: bool = False  # nothing comes
    keys: int = 40
    size: int = 60
    compression: str = "producer"
    poison: int = 0  # per cent
    rejects: bool = False  # poison is answered by 422, else by 500
    faults: tuple = field(default=())

    def has(self, kind):
        return any(fault.kind == kind for fault in self.faults)

    @property
    def parks(self):
        """Whether records may be parked."""
        return self.pools and self.park_after > 0 and self.order == "none" and not self.pattern

    def settings(self):
        """For each member, as its configuration file has them."""
        lanes = {"order": self.order, "queue": self.queue, "workers": self.workers, "drain": f"{self.drain}s",
                 "drain_queued": self.drain_queued}
        settings = {"lanes": lanes, "consumers": self.consumers, "commit": {"interval": self.interval},
                    "retry": {"attempts": self.attempts, "backoff": "50ms", "max_backoff": "500ms"},
                    "dead_letter": {"topic": "{topic}-dlt", "max_rate": 0}, "breaker": {"probe": "500ms"}}
        if self.retry_topics:
            settings["retry"]["topics"] = list(self.retry_topics)
        if self.pools:
            lanes["park_after"] = f"{self.park_after}s"
            settings["pools"] = {"first": {"workers": self.workers, "queue": self.queue},
                                 "second": {"workers": 2, "queue": self.queue}}
            settings["route"] = {"by": "key", "pools": {f"{ONE}*": "second"}, "default": "first"}
            if self.each:
                settings["pools"]["first"]["each"] = {"by": "key", "workers": self.workers}
        return settings

    def text(self):
        """In plain words, a line for each part."""
        protocol = self.strategy if self.protocol == "classic" else self.protocol
        members = f"{self.members} members with {self.consumers} consumers each, {protocol}"
        extras = [word for word, there in (("static members", self.static_ids), ("topics by a pattern", self.pattern),
                                           ("two pools, by the key", self.pools), ("a breaker for each key", self.each),
                                           (f"parking after {self.park_after} s", self.parks)) if there]
        retries = f", retry topics of {' and '.join(self.retry_topics)}" if self.retry_topics else ""
        later = "nothing" if self.silent else f"{BURST_RATE} a second"
        load = f"{self.burst} records at once, then {later}" if self.burst else f"{self.rate} records a second"
        poison = f", {self.poison} % poison, answered {422 if self.rejects else 500}" if self.poison else ""
        lines = [f"seed {self.seed}: {self.partitions} partitions, {', '.join([members, *extras])}",
                 f"order {self.order}, {self.workers} workers, a queue of {self.queue}, {self.attempts} attempts{retries}, "
                 f"a drain of {self.drain} s ({self.drain_queued} queued records), a commit each {self.interval}, "
                 f"{self.handler}, {f'{self.batch} records a request' if self.batch else 'a request for each record'}",
                 f"{load}, {self.keys} keys, {self.size} bytes, compression {self.compression}{poison}"]
        lines += [f"{fault.at:.1f} s: {fault.kind} ({fault.lasts} s, choice {fault.choice})" for fault in self.faults]
        return "\n  ".join(lines)

    def smaller(self):
        """The stories that are this one without one of its parts."""
        plain = Story(self.seed)
        found = [replace(self, faults=self.faults[:place] + self.faults[place + 1:]) for place in range(len(self.faults))]
        for names in (("handler",), ("protocol",), ("poison", "rejects"), ("retry_topics",), ("pools", "each"), ("each",), ("park_after",), ("batch",),
                      ("static_ids", "pattern"), ("order",), ("burst", "silent"), ("silent",), ("members", "consumers"), ("compression", "size")):
            found.append(replace(self, **{name: getattr(plain, name) for name in names}))
        return [story for story in found if story != self]


def draw(seed):
    dice = random.Random(seed)
    order = dice.choice(("none", "none", "key"))
    story = Story(
        seed, partitions=dice.randrange(1, 7), members=dice.randrange(1, 4), consumers=dice.choice((1, 1, 2)),
        strategy=dice.choice(("cooperative-sticky", "range")), static_ids=dice.random() < 0.2, pattern=dice.random() < 0.2,
        batch=dice.choice((0, 0, 20)) if order == "none" else 0, order=order, pools=dice.random() < 0.4,
        workers=dice.choice((1, 4, 8, 20)), queue=dice.choice((0, 16, 256)), attempts=dice.randrange(2, 5),
        retry_topics=dice.choice(((), ("1s", "2s"))) if order == "none" else (), drain=dice.choice((5, 10)),
        interval=dice.choice(("100ms", "500ms", "1s")), rate=dice.choice((60, 150)), burst=dice.choice((0, 0, 1500)),
        keys=dice.choice((1, 5, 40, 1000)), size=dice.choice((30, 60, 2000)),
        compression=dice.choice(("producer", "zstd", "lz4")), poison=dice.choice((0, 0, 1, 10)), rejects=dice.random() < 0.5)
    if story.pattern:  # its retry topics would not be known at the start
        story = replace(story, retry_topics=())
    if story.consumers > 1:  # the members of a process have one client.id, and static ones of the same name
        story = replace(story, static_ids=False)
    if story.batch:  # the web service refuses a whole request for one record of it
        story = replace(story, poison=0)
    if story.order == "key" and story.keys < 40:  # a key has little more than the time that its records take
        story = replace(story, rate=60, poison=min(story.poison, 1))
    # A key whose only record is poison is out, and is parked for ever.
    each = story.pools and not story.batch and not story.poison and order == "none"
    story = replace(story, each=each, park_after=dice.choice((0, 1, 3)))
    if not story.pools or story.pattern or order != "none":
        story = replace(story, park_after=2)
    if story.workers == 1:
        story = replace(story, burst=min(story.burst, 500))
    story = replace(story, rejects=story.rejects and story.poison > 0)
    story = replace(story, faults=draw_faults(dice, story))
    story = replace(story, protocol=dice.choice(("classic", "classic", "consumer")), handler=dice.choice(("http", "http", "exec")))
    if story.pattern or story.retry_topics or story.parks or story.has("recreate topic"):  # the log of a consumer group names topics by ids only
        story = replace(story, protocol="classic")
    if story.handler == "exec":  # each worker has a program of its own
        story = replace(story, batch=0, workers=min(story.workers, 4), partitions=min(story.partitions, 3))
    story = replace(story, drain_queued=dice.choice(("finish", "finish", "return")))
    if story.order == "key" and dice.random() < 0.4:  # one record of a partition after the other
        story = replace(story, order="partition", rate=60, burst=min(story.burst, 500), poison=min(story.poison, 1), pools=False, each=False)
    if story.handler == "http" and not story.batch and dice.random() < 0.3:
        story = replace(story, handler="plugin")
    # A batch that is to be corrupted has to come. Poison that is sent again alone is an outage: docs/outages.md.
    quiet = story.burst > 0 and not story.has("corrupt batch") and not story.has("redrive")
    story = replace(story, silent=quiet and dice.random() < 0.5)
    # The tools that read the log at the end check no sum, but cannot unpack such a batch either.
    return replace(story, compression="producer") if story.has("corrupt batch") else story


def draw_faults(dice, story):
    out_of_place = set() if story.poison else {"skip", "redrive"}
    if not story.pools:
        out_of_place.add("one out")
    if story.pattern or story.retry_topics or story.parks:  # the topic that is made anew has neither
        out_of_place.add("recreate topic")
    kinds = [kind for kind in KINDS if kind not in out_of_place]
    faults = [Fault(round(dice.uniform(0, WINDOW), 1), dice.choice(kinds), round(dice.uniform(0.5, 3), 1), dice.randrange(1000))
              for _ in range(dice.randrange(2, 6))]
    return tuple(sorted(faults))
