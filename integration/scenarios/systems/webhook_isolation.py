"""Webhooks as shipped (config/examples/webhook-fanout.yaml): one of ten subscribers is dead, and the others do not notice.

usage: webhook_isolation [LENGTH], such as 80s (the default) or 30m: so long events come. From 10 minutes on nothing at all differs
from the shipped file but addresses and names; a shorter run has a shorter session time-out, because one act is a kill -9.

The topic gets 20 times as many events as a subscriber takes, of 1 kB each. Most of them are for nobody; some are for one subscriber
each, and some for all. While one subscriber answers 503, the service is stopped and started, a second member joins and leaves, and
the service is killed and started; then the dead one comes back. What docs/pools.md promises is computed from what the receivers kept.
"""
import contextlib
import json
import statistics
import sys

import harness
import isolation
from harness import expect, expect_equal, wait_until
from isolation import MINUTE, Proof
from tools.demo.deliveries import as_json, place_of
from tools.demo.flow import SECOND, Flow, in_time, overtaken, overtakers
from tools.demo.receivers import Receiver, write_subscribers

CONFIG = "config/examples/webhook-fanout.yaml"
PARTITIONS, LIMIT = 4, 10  # as in CONFIG: requests a second to each subscriber
EVENTS = 20 * LIMIT  # a second
FOR_ALL, FOR_ONE = 4, 4  # of them: for every subscriber, and for each living one alone
LIVING = ("audit", "billing", "crm", "ledger", "mail", "partner", "search", "stock", "tax")
DEAD = "legacy"
KILOBYTE = "." * 940  # with the rest of the body
DIES, TERM, JOINS, LEAVES, KILL, BACK = 0.05, 0.15, 0.22, 0.29, 0.47, 0.6  # of the length
PARK_AFTER = 10  # s
UNCOMMITTED = 1  # s: what was delivered so long before a kill is committed, because commit.interval is 100 ms
MS = 1_000_000  # ns
KILLED = "kill -9 and start"
LONG = 10 * MINUTE  # s: from then on everything is as shipped


class Shop:
    """`proof`: of how its subscribers get on."""

    def __init__(self, run, proof, cleanup):
        self.run, self.proof, self.letters = run, proof, 0
        self.living = [Receiver(name, events=["order.*", f"{name}.*"]) for name in LIVING]
        self.dead = Receiver(DEAD, events=["order.*"])
        for receiver in (*self.living, self.dead):
            cleanup.enter_context(contextlib.closing(receiver))
        self.file = run.folder / "subscribers.yaml"
        write_subscribers(self.file, [*self.living, self.dead])
        run.create(PARTITIONS)

    def service(self, name):
        short = {} if self.proof.seconds >= LONG else {"kafka__session.timeout.ms": 6000}
        service = self.run.example(name, CONFIG, pools__fan__handler__fan_out__subscribers=self.file,
                                   pools__send__handler__http__subscribers=self.file,
                                   pools__send__handler__http__private_addresses="true", **short)
        service.url()
        return service

    def write(self):
        kinds = {"order.created": FOR_ALL, **{f"{name}.changed": FOR_ONE for name in LIVING}}
        kinds["other"] = EVENTS - sum(kinds.values())
        for kind, rate in kinds.items():
            self.proof.write(kind, rate, "--header", f"type={kind}", "--value", as_json(type=kind, rest=KILOBYTE))

    def flow(self, receiver):
        kinds = [kind for kind in self.proof.writers if receiver.wants(kind)]
        return Flow(receiver.name, self.proof.offered(kinds), [(place_of(one.id)[0], one.time) for one in receiver.deliveries])


def scenario(run):
    seconds = isolation.length(sys.argv[1] if len(sys.argv) > 1 else "80s")
    with contextlib.ExitStack() as cleanup:
        proof = Proof(run, seconds, every=5 if seconds >= LONG else 2)
        shop = Shop(run, proof, cleanup)
        service = shop.service("first")
        proof.has_lanes(PARTITIONS, service)
        shop.write()
        proof.begin()
        cleanup.callback(proof.end)
        last = play(shop, proof, service)
        proof.end()
        shop.letters = last.metric("dead_letters_total")
        last.stop()
        judge(shop, proof)


def play(shop, proof, first):
    """The acts; returns the service that is left."""
    proof.until(DIES)
    proof.moment("dies")
    shop.dead.die(503)
    proof.until(TERM)
    with proof.act("SIGTERM and start", down=True):
        first.stop()
        second = shop.service("second")
        proof.has_lanes(PARTITIONS, second)
    proof.until(JOINS)
    with proof.act("a member joins"):
        guest = shop.service("guest")
        wait_until("the new member delivers", lambda: guest.processed() >= LIMIT)
    proof.until(LEAVES)
    with proof.act("a member leaves"):
        guest.stop()
        proof.has_lanes(PARTITIONS, second)
    proof.until(KILL)
    with proof.act(KILLED, down=True):
        second.kill()
        third = shop.service("third")
        proof.has_lanes(PARTITIONS, third)
    proof.until(BACK)
    proof.moment("back")
    shop.dead.revive()
    proof.until(1)
    proof.finish_writing()
    proof.drain([shop.run.topic, *shop.run.parking], within=12 * MINUTE)
    return third


def judge(shop, proof):
    """Prints every figure before the first expectation fails."""
    living, dead = [shop.flow(receiver) for receiver in shop.living], shop.flow(shop.dead)
    rate = len(LIVING) * (FOR_ALL + FOR_ONE)
    wrong = [*isolation.told_rates(proof, living), *isolation.told_repeats(proof, [*living, dead], KILLED, rate, PARTITIONS, UNCOMMITTED),
             *isolation.told_commits(proof), *isolation.told_memory(proof), *told_dead(shop, dead),
             *isolation.told_completeness(proof, [*living, dead])]
    for receiver in (*shop.living, shop.dead):
        expect_equal(0, receiver.unverified, f"requests to {receiver.name} with a wrong signature")
    expect(not wrong, "\n".join(wrong))


def told_dead(shop, dead):
    dies, back = shop.proof.moments["dies"], shop.proof.moments["back"]
    waited = in_time(dead.offered, dies, back)
    after = sorted((dead.first[place] - back) / SECOND for place in waited if place in dead.first)
    new = sorted((dead.first[place] - time) / SECOND for place, time in dead.offered.items() if time >= back and place in dead.first)
    print(f"{DEAD}: {len(waited)} events came while it was dead for {(back - dies) / SECOND:.0f} s; they were delivered {after[0]:.1f} to "
          f"{after[-1]:.1f} s after it was back")
    print(f"{DEAD}: new events {statistics.median(new):.1f} s (median), {new[-1]:.1f} s (at most) after they were written")
    if shop.letters:
        yield f"{shop.letters:.0f} dead letters"
    yield from told_order(shop, dead)


def told_order(shop, dead):
    """Whether what was delivered from a retry topic came in the order of the topic."""
    copies, count = {}, {}  # {origin: [(time, rung, partition, offset)]}
    for rung, topic in enumerate(shop.run.parking):
        for fields in map(json.loads, shop.run.tool("read", topic)):
            headers = {name: bytes.fromhex(value) for name, value in fields["headers"]}
            origin = (headers["laneway-retry-topic"].decode(), int(headers["laneway-retry-partition"]), int(headers["laneway-retry-offset"]))
            copies.setdefault(origin, []).append((fields["timestamp"], rung, fields["partition"], fields["offset"]))
            count[rung] = count.get(rung, 0) + 1
    delays = [isolation.length(topic.rsplit("-", 1)[1]) for topic in shop.run.parking]
    once = {origin: sorted(mine)[-1] for origin, mine in copies.items() if parked_once_at_a_time(sorted(mine), delays)}
    print(f"{len(copies) - len(once)} of {len(copies)} parked events had two copies at a time, because a kill -9 repeats writes, too")
    for rung, topic in enumerate(shop.run.parking):
        lines = {}
        for origin, (time, where, partition, offset) in once.items():
            if where == rung and dead.first.get(origin, 0) >= time * MS + (delays[rung] - 1) * SECOND:
                lines.setdefault(partition, []).append((offset, origin))
        orders = [[origin for _, origin in sorted(line)] for line in lines.values()]
        delivered = sum(map(len, orders))
        early = sum(overtakers(order, dead.first, PARK_AFTER) for order in orders)
        most = max((overtaken(order, dead.first) for order in orders), default=0)
        print(f"{topic.rsplit('-', 1)[1]}: {count.get(rung, 0)} records were parked there; {delivered} events were delivered from there, "
              f"and overtook each other by {most:.1f} s at most, {early} of them by more than {PARK_AFTER} s")
        # After a restart, what becomes due takes turns with what was due already.
        if early > delivered / 3:
            yield f"{early} of {delivered} events from {topic} overtook others by more than {PARK_AFTER} s"


def parked_once_at_a_time(copies, delays):
    """Whether each copy of an event followed the one before it, on the next step of the ladder and not before its time."""
    return all(rung == min(before + 1, len(delays) - 1) and time >= earlier + (delays[before] - 1) * 1000
               for (earlier, before, *_), (time, rung, *_) in zip(copies, copies[1:]))


if __name__ == "__main__":
    harness.main("webhook-isolation", scenario)
