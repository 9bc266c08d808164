"""A service that sends events to subscribers, with receivers of its own: what it is given, and what its receivers got."""
import contextlib
import time

from .deliveries import Row
from .evidence import attempts
from .receivers import Receiver, write_subscribers

CONFIG = "config/examples/webhook-fanout.yaml"
TOPIC, GROUP, PARTITIONS = "events", "webhook-fanout", 4
DELAYS = ("10s", "1m", "10m")  # of the topics of parked events
LOOK = 1.0  # s after which a changed file of subscribers is noticed at the latest
ASKED_EVERY = 2.0  # s


class Side:
    """A service with receivers of its own. `fragile`: with the subscriber that dies."""

    def __init__(self, stage, name, fragile, cleanup):
        self.stage, self.name, self.group = stage, name, GROUP if fragile else f"{GROUP}-{name}"
        self.living = [Receiver("audit"), Receiver("crm"), Receiver("search"), Receiver("stock"), Receiver("billing", old_secret=True),
                       Receiver("mail", fails_every=10), Receiver("ledger", events=["invoice.*"])]
        self.dying = [Receiver("legacy")] if fragile else []
        self.late = Receiver("partner")
        for receiver in self.everybody():
            cleanup.enter_context(contextlib.closing(receiver))
        self.file, self.joined_at = stage.folder / f"{name}.subscribers", 0
        write_subscribers(self.file, [*self.living, *self.dying])
        self.settings = {"kafka.group.id": self.group, "pools.fan.handler.fan_out.subscribers": self.file,
                         "pools.send.handler.http.subscribers": self.file, "pools.send.handler.http.private_addresses": "true"}
        self.members = []
        self.start()
        self.asked, self.lag = 0.0, 1

    @property
    def member(self):
        return self.members[-1]

    def start(self):
        name = f"{self.name}-{len(self.members) + 1}" if self.members else self.name
        self.members.append(self.stage.member(name, CONFIG, **self.settings))

    def topics(self):
        return [TOPIC, *(f"{TOPIC}-{self.group}-retry-{delay}" for delay in DELAYS)]

    def has_its_lanes(self):
        return sum(lane["topic"] == TOPIC for lane in self.member.lanes()) == PARTITIONS

    def everybody(self):
        return [*self.living, *self.dying, self.late]

    def join(self):
        """One more subscriber in the file; the service runs on."""
        write_subscribers(self.file, self.everybody())
        self.joined_at = time.time_ns()

    def done(self):
        """Whether everything is committed; each question is a process."""
        if time.monotonic() >= self.asked + ASKED_EVERY:
            self.asked, self.lag = time.monotonic(), self.stage.kafka.lag(self.group, *self.topics())
        return self.lag == 0

    def rows(self, found, given_up):
        """One for each subscriber. `found`: of events(); `given_up`: of letters()."""
        rows = [Row(receiver.name, {body for body, event in found.items() if receiver.wants(event.type)}, receiver.deliveries,
                    given_up.get(receiver.name, ())) for receiver in [*self.living, *self.dying]]
        fanned = {attempt.place: attempt for member in self.members for attempt in attempts(member.journal)
                  if attempt.fields.get("pool") == "fan" and attempt.outcome == "passed_on"}
        fans = {body: fanned[event.place] for body, event in found.items() if event.place in fanned}
        sure = {body for body, fan in fans.items() if fan.start > self.joined_at + LOOK * 1e9}
        perhaps = {body for body, fan in fans.items() if fan.end > self.joined_at}
        return [*rows, Row(self.late.name, sure, self.late.deliveries, allowed=perhaps)]
