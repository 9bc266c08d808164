"""events to signed subscribers, 10 requests/s each: one dies and costs the others nothing; beside it the same without that one"""
import contextlib
import time

from ...failure import Failure
from ..broker import ROOT
from ..deliveries import Row, as_json, events, letters, place_of, unfinished
from ..evidence import acknowledged, attempts, percentile, successes
from ..member import LANEWAY
from ..receivers import Receiver, write_subscribers
from ..verdict import Account

TARGETS = ("laneway", "kafka_tool")
SECONDS = 20
CONFIG = "config/examples/webhook-fanout.yaml"
TOPIC, LETTERS, GROUP, PARTITIONS = "events", "events-dlt", "webhook-fanout", 4
TYPES, RATE = ("order.created", "invoice.paid"), 6  # events/s of each type
LIMIT, BURST, AT_ONCE = 10, 5, 4  # of each subscriber, as in CONFIG: requests/s, after an idle time, unanswered
DIES, JOINS = 0.3, 0.5  # of the time in which events are written
LOOK = 1.0  # s after which a changed file of subscribers is noticed at the latest
LONGEST_WAIT = "10s"  # in place of the hour of CONFIG: then an event is a dead letter
AT_LEAST = 0.98  # of the rate without the dead subscriber
REDRIVEN = 9  # letters/s: fewer than LIMIT, so that none of them waits for LONGEST_WAIT again


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
                         "pools.send.handler.http.subscribers": self.file, "pools.send.handler.http.private_addresses": "true",
                         "pools.send.each.longest_wait": LONGEST_WAIT}
        self.member = stage.member(name, CONFIG, **self.settings)
        self.asked, self.lag = 0.0, 1

    def everybody(self):
        return [*self.living, *self.dying, self.late]

    def join(self):
        """One more subscriber in the file; the service runs on."""
        write_subscribers(self.file, self.everybody())
        self.joined_at = time.time_ns()

    def done(self):
        """Whether everything is committed; each question is a process."""
        if time.monotonic() >= self.asked + 2:
            self.asked, self.lag = time.monotonic(), self.stage.kafka.lag(self.group, TOPIC)
        return self.lag == 0

    def ask_again(self):
        """More was written, so that the last answer is not true any more."""
        self.asked, self.lag = 0.0, 1

    def redrive(self):
        """The command that sends back what was given up."""
        settings = {"kafka.bootstrap.servers": self.stage.kafka.bootstrap, **self.settings}
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        return self.stage.program("redrive", [LANEWAY, "dlq", "redrive", "-c", ROOT / CONFIG, "--rate", REDRIVEN, "--yes", *words])

    def rows(self, found, given_up):
        """One for each subscriber. `found`: of events(); `given_up`: of letters()."""
        rows = [Row(receiver.name, {body for body, event in found.items() if receiver.wants(event.type)}, receiver.deliveries,
                    given_up.get(receiver.name, ())) for receiver in [*self.living, *self.dying]]
        fanned = {attempt.place: attempt for attempt in attempts(self.member.journal)
                  if attempt.fields.get("pool") == "fan" and attempt.outcome == "passed_on"}
        fans = {body: fanned[event.place] for body, event in found.items() if event.place in fanned}
        sure = {body for body, fan in fans.items() if fan.start > self.joined_at + LOOK * 1e9}
        perhaps = {body for body, fan in fans.items() if fan.end > self.joined_at}
        return [*rows, Row(self.late.name, sure, self.late.deliveries, allowed=perhaps)]


class Watch:
    """Shows the present of the side with the subscriber that dies."""

    def __init__(self, stage, side):
        self.stage, self.side = stage, side

    def __call__(self):
        shown = self.side.everybody()
        rows = [f"{one.name:<10}{len(one.deliveries):>8,} delivered{one.unanswered:>6,} unanswered" for one in shown]
        counts = " ".join(f"{one.name} {len(one.deliveries):,}" for one in shown)
        self.stage.show(f"{counts} | dead letters {self.side.member.metric('dead_letters_total'):,.0f}", rows)


def play(stage):
    stage.start_kafka({TOPIC: PARTITIONS, LETTERS: 1})
    with contextlib.ExitStack() as cleanup:
        side, without = Side(stage, "laneway", True, cleanup), Side(stage, "without", False, cleanup)
        watch = Watch(stage, side)
        stage.until("both have their partitions", lambda: all(len(one.member.lanes()) == PARTITIONS for one in (side, without)))
        tell(stage, (side, without), watch)
        come_back(stage, (side, without), watch)
        judge(stage, side, without)


def tell(stage, sides, watch):
    begun = time.monotonic()

    def watch_until(part):
        end = begun + part * stage.seconds
        stage.until("time passes", lambda: time.monotonic() >= end, watch, within=stage.seconds + 60)

    writers = [stage.kafka.write(TOPIC, "--rate", RATE, "--count", int(RATE * stage.seconds), "--header", f"type={kind}",
                                 "--value", as_json(type=kind)) for kind in TYPES]
    stage.say(f"{RATE * len(TYPES)} events/s for {stage.seconds:.0f} s; each subscriber takes {LIMIT}/s")
    watch_until(DIES)
    for one in sides[0].dying:
        one.die()
    stage.say("legacy dies: it takes requests, and answers none")
    watch_until(JOINS)
    for side in sides:
        side.join()
    stage.say("partner joins: it is in the file of subscribers now, and the service runs on")
    stage.until("the writers end", lambda: not any(writer.running() for writer in writers), watch)
    stage.until("everything is committed", lambda: all(side.done() for side in sides), watch)


def come_back(stage, sides, watch):
    stage.say("everything is committed; what legacy did not take is in the dead-letter topic")
    sides[1].member.stop()
    stage.ended(sides[1].member, watch)
    for one in sides[0].dying:
        one.revive()
    stage.say(f"legacy is back: laneway dlq redrive --rate {REDRIVEN} --yes")
    redrive = sides[0].redrive()
    if stage.ended(redrive, watch) != 0:
        raise Failure(f"laneway dlq redrive failed: {redrive.log}")
    sides[0].ask_again()
    stage.until("the dead letters are delivered", sides[0].done, watch)
    sides[0].member.stop()
    stage.ended(sides[0].member, watch)


def judge(stage, side, without):
    verdict, produced = stage.verdict, acknowledged(stage.kafka.acks(TOPIC))
    found, given_up = events(TOPIC, stage.kafka.tool("read", TOPIC)), letters(stage.kafka.tool("read", LETTERS))
    rows, others = side.rows(found, given_up), {row.name: row for row in without.rows(found, {})}
    for one, its_rows in ((side, rows), (without, others.values())):
        missing = unfinished(found, its_rows)
        done = {place: all_of[:1] for place, all_of in successes([one.member.journal]).items() if place not in missing}
        verdict.account(Account(one.name, produced, done, stage.kafka.committed(one.group, TOPIC)))
    verdict.note("an event is processed if each of its subscribers has got it or has it as a dead letter:")
    verdict.note(f"{'':<10}{'expected':>10}{'delivered':>10}{'twice':>7}{'dead letters':>14}{'requests/s':>12}{'without legacy':>16}")
    for row in rows:
        rates = f"{row.rate:>12.2f}{others[row.name].rate:>16.2f}" if row.name in others else ""
        verdict.note(f"{row.name:<10}{len(row.expected):>10,}{len(row.delivered):>10,}{len(row.repeated):>7,}{len(row.letters):>14,}{rates}")
    for one in (side, without):
        waited = sorted((delivery.time - produced[place]) / 1e9 for receiver in one.living for delivery in receiver.deliveries
                        if (place := place_of(delivery.id)[0]) in produced)
        verdict.note(f"{one.name}: the living subscribers had an event {percentile(waited, 50):.2f} s (median), "
                     f"{percentile(waited, 99):.2f} s (99th percentile) after it was written: {RATE * len(TYPES)}/s come, {LIMIT}/s go")
    check_deliveries(verdict, side, rows, found, given_up)
    check_rates(verdict, rows, others)


def check_deliveries(verdict, side, rows, found, given_up):
    living, dead = [row for row in rows if row.name != "legacy"], next(row for row in rows if row.name == "legacy")
    verdict.check(verdict.accounts[0].complete(), "laneway finished and committed every event")
    verdict.check(not any(row.missing or row.strange or row.repeated or row.letters for row in living),
                  "each living subscriber got each event that it wants once, and no other")
    failed = set().union(*(one.failed for one in side.living))
    verdict.check(failed and failed <= {delivery.id for one in side.living for delivery in one.deliveries},
                  f"{len(failed)} requests were answered 500, and each of them came again")
    verdict.check(dead.letters and set(given_up) == {"legacy"}, "each dead letter names legacy")
    verdict.check(dead.delivered == dead.expected and not dead.repeated, "legacy got its dead letters when it was back, and nobody else did")
    verdict.check(not any(one.unverified for one in side.everybody()), "each request had the right signature and timestamp")
    verdict.check(all(delivery.body in found and place_of(delivery.id) == (found[delivery.body].place, one.name)
                      for one in (*side.living, side.late) for delivery in one.deliveries),
                  "each webhook-id names its event and its subscriber")


def check_rates(verdict, rows, others):
    compared = [row for row in rows if row.name in others]
    rate, rate_without = sum(row.rate for row in compared), sum(others[row.name].rate for row in compared)
    verdict.check(all(row.most_in(1) <= LIMIT + BURST + AT_ONCE for row in rows), f"nobody got more than {LIMIT}/s and a burst of {BURST}")
    verdict.check(rate >= AT_LEAST * rate_without, f"the living subscribers together got {rate:.1f} requests/s, "
                  f"without legacy {rate_without:.1f}: at least {AT_LEAST:.0%}")
