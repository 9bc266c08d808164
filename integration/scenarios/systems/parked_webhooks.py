"""Webhooks as shipped (config/examples/webhook-fanout.yaml), but for shorter delays: a subscriber takes requests and answers none. Its events are parked, the
others go on at their rate, what is committed stays near the end, and a SIGTERM, a new member and another stop send the living
subscribers nothing again. When the dead one is back, it gets everything once.
"""
import contextlib
import json
import time
from collections import Counter

import harness
from harness import expect, expect_equal, wait_until
from tools.demo.deliveries import as_json, events
from tools.demo.receivers import Receiver, write_subscribers

CONFIG = "config/examples/webhook-fanout.yaml"
PARTITIONS, RATE = 4, 8  # events a second, of the ten that each subscriber gets at most
DELAYS = ("2s", "5s")  # of the topics of parked records: as shipped, they come back every ten minutes after the first
LAG = RATE * 30  # records: committed offsets stay within half a minute of the end


class Shop:
    def __init__(self, run, cleanup):
        self.run = run
        self.living = [Receiver("audit"), Receiver("billing"), Receiver("crm")]
        self.dead = Receiver("legacy")
        for receiver in (*self.living, self.dead):
            cleanup.enter_context(contextlib.closing(receiver))
        self.file = run.folder / "subscribers.yaml"
        write_subscribers(self.file, [*self.living, self.dead])
        run.create(PARTITIONS)

    def service(self, name):
        return self.run.example(name, CONFIG, pools__fan__handler__fan_out__subscribers=self.file,
                                pools__send__handler__http__subscribers=self.file,
                                pools__send__handler__http__private_addresses="true",
                                retry__topics=f"[{', '.join(DELAYS)}]")

    def topics(self):
        return [self.run.topic, *(f"{self.run.topic}-retry-{delay}" for delay in DELAYS)]

    def parked(self):
        """How many records were written to the retry topics."""
        ends = self.run.watermarks([topic for topic in self.topics() if topic != self.run.topic])
        return sum(end for _, end in ends.values())

    def lag(self):
        committed, ends = self.run.committed(), self.run.watermarks()
        return sum(end - max(committed.get(place, 0), low) for place, (low, end) in ends.items())

    def repeated(self, receiver):
        return [body for body, times in Counter(delivery.body for delivery in receiver.deliveries).items() if times > 1]


def scenario(run):
    with contextlib.ExitStack() as cleanup:
        tell(run, Shop(run, cleanup))


def delivered(receiver, more):
    before = len(receiver.deliveries)
    wait_until(f"{receiver.name} has {more} more deliveries", lambda: len(receiver.deliveries) >= before + more)


def tell(run, shop):
    audit = shop.living[0]
    first = shop.service("first")
    run.produce_meanwhile("--rate", RATE, "--header", "type=order.created", "--value", as_json(type="order.created"))
    delivered(shop.dead, 10)
    shop.dead.die()
    wait_until("records are parked", lambda: shop.parked() > 0)
    begun, before = time.monotonic(), len(audit.deliveries)
    delivered(audit, RATE * 20)
    rate = (len(audit.deliveries) - before) / (time.monotonic() - begun)
    expect(rate >= 0.9 * RATE, f"audit gets {rate:.2f} events a second of {RATE} while legacy is dead")
    expect(shop.lag() <= LAG, f"{shop.lag()} records are not committed while legacy is dead")
    first.stop()
    second = shop.service("second")
    delivered(audit, RATE * 5)
    third = shop.service("third")  # a rebalance
    wait_until("the new member delivers", lambda: third.processed() >= RATE)
    second.stop()
    delivered(audit, RATE * 5)
    shop.dead.revive()
    run.finish_writing()
    run.wait_for_no_lag(shop.topics())
    third.stop()
    everything = set(events(run.topic, map(json.loads, run.tool("read", run.topic))))
    for receiver in (*shop.living, shop.dead):
        expect_equal(everything, {delivery.body for delivery in receiver.deliveries}, f"what {receiver.name} got")
        if receiver is not shop.dead:
            expect_equal([], shop.repeated(receiver), f"what {receiver.name} got more than once")


if __name__ == "__main__":
    harness.main("parked-webhooks", scenario)
