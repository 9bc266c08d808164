"""Webhooks (config/examples/webhook-fanout.yaml): a subscriber that fails now and then, one that dies, a file of subscribers with a
mistake and then with one more subscriber, a member that joins, and a kill -9. Each living subscriber gets each event, and a repeated
one by the same id; what the dead one does not take is a dead letter of its own, and a redrive sends it to nobody else. A letter whose
subscriber is missing in the file becomes a dead letter again.
"""
import contextlib
import json
import time

import harness
from harness import expect, expect_equal, wait_until
from tools.demo.deliveries import as_json, events, headers_of, letters, place_of
from tools.demo.receivers import Receiver, write_subscribers

CONFIG = "config/examples/webhook-fanout.yaml"
PARTITIONS, RATE, ENOUGH = 4, 10, 100  # events a second of each type; deliveries to one subscriber
TYPES = ("order.created", "invoice.paid")
LOOK = 1.0  # s after which a changed file is noticed at the latest


class Shop:
    """The receivers, their file, and the services that deliver to them."""

    def __init__(self, run, cleanup):
        self.run, self.letters = run, run.topic + "-dlt"
        self.living = [Receiver("audit"), Receiver("mail", fails_every=10), Receiver("ledger", events=["invoice.*"])]
        self.dying, self.late = Receiver("legacy"), Receiver("partner")
        for receiver in (*self.living, self.dying, self.late):
            cleanup.enter_context(contextlib.closing(receiver))
        self.file = run.folder / "subscribers.yaml"
        write_subscribers(self.file, [*self.living, self.dying])
        run.create(PARTITIONS)
        run.create(1, topic=self.letters)

    def service(self, name):
        return self.run.example(name, CONFIG, pools__fan__handler__fan_out__subscribers=self.file,
                                pools__send__handler__http__subscribers=self.file,
                                pools__send__handler__http__private_addresses="true",
                                pools__send__each__rate__records=200,  # what waits for its turn must not look like a dead subscriber
                                pools__send__each__longest_wait="20s", retry__backoff="100ms", breaker__probe="1s",
                                **{f"kafka.{key}": value for key, value in harness.SHORT_SESSION.items()})

    def changes_the_file(self, service):
        """First with a mistake, which changes nothing, then with one more subscriber: the time of the change, in ns since 1970."""
        right = self.file.read_text()
        self.file.write_text(right + "- { name: nobody }\n")
        wait_until("the log names the mistake", lambda: service.events("subscribers not changed: the file has a mistake"))
        write_subscribers(self.file, [*self.living, self.dying, self.late])
        return time.time_ns()

    def delivered(self, receiver, records=ENOUGH):
        before = len(receiver.deliveries)
        wait_until(f"{receiver.name} has {records} more deliveries", lambda: len(receiver.deliveries) >= before + records)

    def found(self):
        return events(self.run.topic, map(json.loads, self.run.tool("read", self.run.topic)))

    def reasons(self):
        """Why there is each dead letter."""
        return [headers_of(json.loads(line)).get("kafka_dlt-exception-message", b"") for line in self.run.tool("read", self.letters)]

    def given_up(self):
        return letters(map(json.loads, self.run.tool("read", self.letters)))


def scenario(run):
    with contextlib.ExitStack() as cleanup:
        tell(run, Shop(run, cleanup))


def tell(run, shop):
    audit = shop.living[0]
    first = shop.service("first")
    for kind in TYPES:
        run.produce_meanwhile("--rate", RATE, "--header", f"type={kind}", "--value", as_json(type=kind))
    shop.delivered(shop.dying)
    shop.dying.die()
    wait_until("the dead subscriber has requests", lambda: shop.dying.unanswered)
    shop.delivered(audit)
    joined = shop.changes_the_file(first)
    shop.delivered(shop.late)
    second = shop.service("second")
    wait_until("the second member delivers", lambda: second.processed() >= ENOUGH)
    first.kill()
    shop.delivered(audit)
    run.finish_writing()
    run.wait_for_no_lag([run.topic, *run.parking])
    everybody_has_everything(shop, fanned_after((first, second), joined), second)
    comes_back(run, shop, second)


def fanned_after(services, moment):
    """The places of the events for which these found the subscribers after the changed file must have been noticed."""
    lines = [json.loads(line) for service in services
             for line in service.journal.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return {(line["topic"], line["partition"], line["offset"]) for line in lines
            if line["pool"] == "fan" and line["start"] > moment + LOOK * 1e9}


def everybody_has_everything(shop, places_after, second):
    found, given_up = shop.found(), shop.given_up()
    for receiver in shop.living:
        got = {delivery.body for delivery in receiver.deliveries}
        expect_equal({body for body, event in found.items() if receiver.wants(event.type)}, got, f"what {receiver.name} got")
    expect({body for body, event in found.items() if event.place in places_after} <= {delivery.body for delivery in shop.late.deliveries},
           "partner lacks events of the time after it joined")
    ids = {}
    for receiver in (*shop.living, shop.late, shop.dying):
        expect_equal(0, receiver.unverified, f"requests to {receiver.name} with a wrong signature")
        for delivery in receiver.deliveries:
            expect_equal((found[delivery.body].place, receiver.name), place_of(delivery.id), "what an id names")
            ids.setdefault((receiver.name, delivery.body), set()).add(delivery.id)
    expect(all(len(of_one) == 1 for of_one in ids.values()), "a repeated event came with another id")
    expect(shop.living[1].failed, "no attempt failed: this shows nothing about retries")
    expect_equal({shop.dying.name}, set(given_up), "whose dead letters there are")
    expect_equal(set(found), {delivery.body for delivery in shop.dying.deliveries} | given_up[shop.dying.name],
                 "what the dead subscriber got before it died, and what is a dead letter")
    expect(second.metric("dead_letters_total") > 0, "the second service has no dead letters")


def comes_back(run, shop, service):
    """The dead subscriber's letters are sent back: to nobody while the file does not have it, then to it and to nobody else."""
    before = {receiver.name: len(receiver.deliveries) for receiver in (*shop.living, shop.late)}
    everything = set(shop.found())
    write_subscribers(shop.file, [*shop.living, shop.late])
    redrive(run, service)
    wait_until("letters are dead letters again, because their subscriber is gone",
               lambda: any(b"legacy is not in" in reason for reason in shop.reasons()))
    shop.dying.revive()
    write_subscribers(shop.file, [*shop.living, shop.late, shop.dying])
    run.wait_for_no_lag([run.topic, *run.parking])  # so many rejected records at once are tried again (dead_letter.max_rate)
    redrive(run, service)
    wait_until("it has everything", lambda: {delivery.body for delivery in shop.dying.deliveries} == everything)
    run.wait_for_no_lag([run.topic, *run.parking])
    service.stop()
    expect_equal(before, {receiver.name: len(receiver.deliveries) for receiver in (*shop.living, shop.late)},
                 "deliveries to the others, before and after the redrives")


def redrive(run, service):
    process = run.command("redrive", "dlq", "redrive", *service.process.args[2:], "--yes")
    expect_equal(0, process.wait(harness.PATIENCE), "exit code of the redrive")


if __name__ == "__main__":
    harness.main("webhook-fanout", scenario)
