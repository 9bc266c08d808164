"""Orders of an operator about parked records, by the command line: of two subscribers that are out, one comes back and gets its
events at once, and not after an hour; those of the other are given up, and what comes for it later is not. The status and the metrics
show what is parked, and nothing is lost.
"""
import contextlib
import json
import subprocess

import harness
from harness import LANEWAY, PATIENCE, expect, expect_equal, inherited_environment, wait_until
from tools.demo.deliveries import as_json, events, letters
from tools.demo.receivers import Receiver, write_subscribers

CONFIG = "config/examples/webhook-fanout.yaml"
PARTITIONS, RATE = 4, 8  # events a second
DELAYS = ("1s", "1h")  # of the topics of parked records: without an order they do not come back while the story lasts
PARKED = 40  # records of each subscriber that the story waits for
LATER = 50  # events after the orders


class Shop:
    def __init__(self, run, cleanup):
        self.run, self.letters = run, run.topic + "-dlt"
        self.audit, self.legacy, self.gone = (Receiver(name) for name in ("audit", "legacy", "gone"))
        for receiver in self.receivers():
            cleanup.enter_context(contextlib.closing(receiver))
        file = run.folder / "subscribers.yaml"
        write_subscribers(file, self.receivers())
        run.create(PARTITIONS)
        run.create(1, topic=self.letters)
        self.service = run.example("orders", CONFIG, pools__fan__handler__fan_out__subscribers=file,
                                   pools__send__handler__http__subscribers=file,
                                   pools__send__handler__http__private_addresses="true",
                                   pools__send__handler__http__timeout="500ms", pools__send__each__rate__records=1000,
                                   retry__topics=f"[{', '.join(DELAYS)}]")

    def receivers(self):
        return [self.audit, self.legacy, self.gone]

    def laneway(self, *arguments, code=0):
        address = self.service.url().removeprefix("http://")
        done = subprocess.run([LANEWAY, *arguments, "--admin", address], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, env=inherited_environment())
        expect_equal(code, done.returncode, f"exit code of laneway {' '.join(arguments)}: {done.stdout}")
        return done.stdout

    def status(self):
        return json.loads(self.laneway("status", "--json"))

    def send(self):
        """The pool's part of the status."""
        return next(pool for pool in self.status()["pools"] if pool["name"] == "send")

    def parked(self):
        """{subscriber: its parked records}"""
        return {one["name"]: one["parked"] for one in self.send()["subscribers"]["worst"]}

    def everything(self):
        return set(events(self.run.topic, map(json.loads, self.run.tool("read", self.run.topic))))

    def given_up(self):
        return letters(map(json.loads, self.run.tool("read", self.letters))).get("gone", set())


def bodies(receiver):
    return {delivery.body for delivery in receiver.deliveries}


def options(when):
    """Of the events that are written; `when` keeps their bodies apart."""
    return "--header", "type=order.created", "--value", as_json(when=when)


def scenario(run):
    with contextlib.ExitStack() as cleanup:
        tell(run, Shop(run, cleanup))


def tell(run, shop):
    run.produce_meanwhile("--rate", RATE, *options("first"))
    wait_until("everybody gets events", lambda: all(len(receiver.deliveries) > RATE for receiver in shop.receivers()))
    shop.legacy.die()
    shop.gone.die()
    wait_until("the events of both are parked", lambda: min(shop.parked().get(name, 0) for name in ("legacy", "gone")) >= PARKED)
    run.finish_writing()
    shown(shop)
    sent_on(shop)
    given_up(run, shop)


def shown(shop):
    # Those that come back after the first delay are not parked until they leave again.
    pool = wait_until("all are parked at the same time", lambda: settled(shop))
    expect(pool["parked_oldest_seconds"] > 0, "how long the oldest parked record has waited")
    expect(shop.service.metric("parked_oldest_seconds", pool="send") > 0, "laneway_parked_oldest_seconds")
    table = shop.laneway("status")
    expect("records are parked, and the oldest has waited since" in table, f"the status: {table}")
    shop.laneway("give-up", "sent", "--reason", "a mistake", code=66)
    shop.laneway("give-up", "fan", "--subscriber", "gone", "--reason", "a mistake", code=78)


def settled(shop):
    """The pool's part of the status once nothing comes back."""
    pool = shop.send()
    of_subscribers = sum(one["parked"] for one in pool["subscribers"]["worst"])
    return pool if of_subscribers == pool["parked"] >= 2 * PARKED and shop.service.metric("parked_records", pool="send") >= 2 * PARKED else None


def sent_on(shop):
    shop.legacy.revive()
    print(shop.laneway("send-on"))
    wait_until("legacy gets everything at once", lambda: bodies(shop.legacy) == shop.everything())
    wait_until("the events of gone are parked again", lambda: shop.parked().get("gone", 0) >= PARKED)
    expect_equal([], list(shop.given_up()), "what was given up by sending on")
    expect(any("come back at once" in order for order in shop.status()["parked_orders"]), "the order in the status")


def given_up(run, shop):
    print(shop.laneway("give-up", "send", "--subscriber", "gone", "--reason", "gone for good"))
    wait_until("what was parked is given up", lambda: shop.given_up() | bodies(shop.gone) == shop.everything())
    before = shop.given_up()
    expect(any("given up" in order and "gone for good" in order for order in shop.status()["parked_orders"]), "the order in the status")
    taken = bodies(shop.gone)
    shop.gone.revive()
    run.produce("--count", LATER, *options("later"))
    wait_until("gone gets a later event", lambda: bodies(shop.gone) - taken)
    shop.laneway("send-on")
    run.wait_for_no_lag([run.topic, *(f"{run.topic}-retry-{delay}" for delay in DELAYS)])
    shop.service.stop()
    everything = shop.everything()
    for receiver in (shop.audit, shop.legacy):
        expect_equal(everything, bodies(receiver), f"what {receiver.name} got")
    expect_equal(everything, bodies(shop.gone) | before, "what gone got, and what was given up")
    expect_equal(before, shop.given_up(), "what was given up: nothing that came later")


if __name__ == "__main__":
    harness.main("parked-orders", scenario)
