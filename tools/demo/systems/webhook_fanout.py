"""events to signed subscribers: one dies, is parked, and costs the others nothing, also in a restart; beside it the same without it"""
import contextlib
import time

from ..deliveries import as_json, events, letters, place_of, unfinished
from ..evidence import acknowledged, percentile, successes
from ..fan_out_side import PARTITIONS, TOPIC, Side
from ..flow import SECOND, in_time
from ..verdict import Account

TARGETS = ("laneway", "kafka_tool")
SECONDS = 60
LETTERS = "events-dlt"
TYPES, RATE = ("order.created", "invoice.paid"), 4  # events/s of each type
LIMIT, BURST, AT_ONCE = 10, 5, 4  # of each subscriber, as in CONFIG: requests/s, after an idle time, unanswered
DIES, JOINS, RESTARTS, BACK = 0.2, 0.3, 0.5, 0.75  # of the time in which events are written
SETTLED = 2 * SECOND  # after the start of the writers
AT_LEAST = 0.98  # of the rate before the death, and of that without the dead subscriber


class Watch:
    """Shows the present of the side with the subscriber that dies."""

    def __init__(self, stage, side):
        self.stage, self.side = stage, side

    def __call__(self):
        shown = self.side.everybody()
        rows = [f"{one.name:<10}{len(one.deliveries):>8,} delivered{one.unanswered:>6,} unanswered" for one in shown]
        counts = " ".join(f"{one.name} {len(one.deliveries):,}" for one in shown)
        self.stage.show(f"{counts} | parked {self.side.member.metric('parked_total'):,.0f}", rows)


def play(stage):
    stage.start_kafka({TOPIC: PARTITIONS, LETTERS: 1})
    with contextlib.ExitStack() as cleanup:
        side, without = Side(stage, "laneway", True, cleanup), Side(stage, "without", False, cleanup)
        watch = Watch(stage, side)
        stage.until("both have their partitions", lambda: all(one.has_its_lanes() for one in (side, without)))
        moments = tell(stage, (side, without), watch)
        judge(stage, side, without, moments)


def tell(stage, sides, watch):
    """What happens; the times of it, in ns since 1970."""
    begun, moments, (side, without) = time.monotonic(), {"begun": time.time_ns()}, sides

    def watch_until(part):
        end = begun + part * stage.seconds
        stage.until("time passes", lambda: time.monotonic() >= end, watch, within=stage.seconds + 60)

    writers = [stage.kafka.write(TOPIC, "--rate", RATE, "--count", int(RATE * stage.seconds), "--header", f"type={kind}",
                                 "--value", as_json(type=kind)) for kind in TYPES]
    stage.say(f"{RATE * len(TYPES)} events/s for {stage.seconds:.0f} s; each subscriber takes {LIMIT}/s")
    watch_until(DIES)
    for one in side.dying:
        one.die()
    moments["dies"] = time.time_ns()
    stage.say("legacy dies: it takes requests, and answers none")
    watch_until(JOINS)
    for one in sides:
        one.join()
    stage.say("partner joins: it is in the file of subscribers now, and the service runs on")
    watch_until(RESTARTS)
    restart(stage, side, watch)
    watch_until(BACK)
    for one in side.dying:
        one.revive()
    moments["back"] = time.time_ns()
    stage.say("legacy is back: what was parked comes after 10 s and after a minute, while new events go on")
    stage.until("the writers end", lambda: not any(writer.running() for writer in writers), watch)
    stage.until("everything is committed", lambda: all(one.done() for one in sides), watch)
    for one in sides:
        one.member.stop()
        stage.ended(one.member, watch)
    return moments


def restart(stage, side, watch):
    stage.say("laneway is stopped and started: SIGTERM, and a new process")
    side.member.stop()
    stage.ended(side.member, watch)
    side.start()
    stage.until("it has its partitions", side.has_its_lanes, watch)


def judge(stage, side, without, moments):
    verdict, produced = stage.verdict, acknowledged(stage.kafka.acks(TOPIC))
    found, given_up = events(TOPIC, stage.kafka.tool("read", TOPIC)), letters(stage.kafka.tool("read", LETTERS))
    rows, others = side.rows(found, given_up), {row.name: row for row in without.rows(found, {})}
    for one, its_rows in ((side, rows), (without, others.values())):
        missing = unfinished(found, its_rows)
        done = {place: all_of[:1] for place, all_of in successes([member.journal for member in one.members]).items() if place not in missing}
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
    check_parking(verdict, side, moments)
    check_rates(verdict, side, rows, others, moments)


def check_deliveries(verdict, side, rows, found, given_up):
    living, dead = [row for row in rows if row.name != "legacy"], next(row for row in rows if row.name == "legacy")
    verdict.check(verdict.accounts[0].complete(), "laneway finished and committed every event")
    verdict.check(not any(row.missing or row.strange or row.repeated or row.letters for row in living),
                  "each living subscriber got each event that it wants once, and no other: the restart repeated nothing")
    failed = set().union(*(one.failed for one in side.living))
    verdict.check(failed and failed <= {delivery.id for one in side.living for delivery in one.deliveries},
                  f"{len(failed)} requests were answered 500, and each of them came again")
    verdict.check(not given_up, "no event became a dead letter")
    verdict.check(dead.delivered == dead.expected and not dead.repeated, "legacy got each event once, those that were parked when it was back")
    verdict.check(not any(one.unverified for one in side.everybody()), "each request had the right signature and timestamp")
    verdict.check(all(delivery.body in found and place_of(delivery.id) == (found[delivery.body].place, one.name)
                      for one in (*side.living, side.late) for delivery in one.deliveries),
                  "each webhook-id names its event and its subscriber")


def check_parking(verdict, side, moments):
    times = {delivery.body: delivery.time for delivery in side.dying[0].deliveries}
    late = in_time(times, moments["dies"] + SECOND, moments["back"])
    verdict.check(not late, f"legacy got nothing while it was dead for {(moments['back'] - moments['dies']) / SECOND:.0f} s")
    last = (max(times.values(), default=0) - moments["back"]) / SECOND
    verdict.note(f"legacy had its last event {last:.0f} s after it was back")
    verdict.check(any(one.events("breaker open") for one in side.members), "the breaker of legacy opened")


def rate_between(side, begin, end):
    """Deliveries a second to the living subscribers that were there from the beginning."""
    return sum(begin <= delivery.time < end for one in side.living for delivery in one.deliveries) / (end - begin) * SECOND


def check_rates(verdict, side, rows, others, moments):
    compared = [row for row in rows if row.name in others]
    rate, rate_without = sum(row.rate for row in compared), sum(others[row.name].rate for row in compared)
    verdict.check(all(row.most_in(1) <= LIMIT + BURST + AT_ONCE for row in rows), f"nobody got more than {LIMIT}/s and a burst of {BURST}")
    before = rate_between(side, moments["begun"] + SETTLED, moments["dies"])
    after = rate_between(side, moments["dies"], moments["back"])
    verdict.check(after >= AT_LEAST * before, f"the living subscribers together got {before:.1f} requests/s before legacy died, "
                  f"and {after:.1f} while it was dead: at least {AT_LEAST:.0%}")
    verdict.check(rate >= AT_LEAST * rate_without, f"over all they got {rate:.1f} requests/s, without legacy {rate_without:.1f}: "
                  f"at least {AT_LEAST:.0%}")
