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
import threading
import time

import harness
from flow import SECOND, Act, Flow, behind, by_act, in_time, overtaken, stalls, touched
from harness import Failed, expect, expect_equal, wait_until
from tools.demo.deliveries import as_json, place_of
from tools.demo.receivers import Receiver, write_subscribers
from writers import Writers

CONFIG = "config/examples/webhook-fanout.yaml"
PARTITIONS, LIMIT = 4, 10  # as in CONFIG: requests a second to each subscriber
EVENTS = 20 * LIMIT  # a second
FOR_ALL, FOR_ONE = 4, 4  # of them: for every subscriber, and for each living one alone
LIVING = ("audit", "billing", "crm", "ledger", "mail", "partner", "search", "stock", "tax")
DEAD = "legacy"
KILOBYTE = "." * 940  # with the rest of the body
DIES, TERM, JOINS, LEAVES, KILL, BACK = 0.05, 0.15, 0.22, 0.29, 0.47, 0.6  # of the length
LADDER = ("10s", "1m", "10m")
AT_LEAST, STALL = 0.98, 0.5  # of the offered rate: overall, and in each window
MEMORY_GROWS = 1.25  # times that of the first half, at most
PARK_AFTER = 10  # s
MINUTE = 60
LONG = 10 * MINUTE  # s: from then on everything is as shipped


class Shop:
    def __init__(self, run, seconds, cleanup):
        self.run, self.seconds = run, seconds
        self.living = [Receiver(name, events=["order.*", f"{name}.*"]) for name in LIVING]
        self.dead = Receiver(DEAD, events=["order.*"])
        for receiver in (*self.living, self.dead):
            cleanup.enter_context(contextlib.closing(receiver))
        self.file = run.folder / "subscribers.yaml"
        write_subscribers(self.file, [*self.living, self.dead])
        run.create(PARTITIONS)
        self.writers, self.acts, self.moments = {}, [], {}
        self.samples, self.memory = [], []  # [(time, ends, committed)], [(time, name of the service, MiB)]
        self.begun = self.letters = 0

    def service(self, name):
        short = {} if self.seconds >= LONG else {"kafka__session.timeout.ms": 6000}
        service = self.run.example(name, CONFIG, pools__fan__handler__fan_out__subscribers=self.file,
                                   pools__send__handler__http__subscribers=self.file,
                                   pools__send__handler__http__private_addresses="true", **short)
        service.url()
        return service

    def write(self):
        kinds = {"order.created": FOR_ALL, **{f"{name}.changed": FOR_ONE for name in LIVING}}
        kinds["other"] = EVENTS - sum(kinds.values())
        for kind, rate in kinds.items():
            folder = self.run.folder / kind
            folder.mkdir()
            self.writers[kind] = Writers(self.run.cluster, folder)
            self.writers[kind].start("produce", self.run.topic, "--rate", rate, "--header", f"type={kind}",
                                     "--value", as_json(type=kind, rest=KILOBYTE))
        self.begun = time.time_ns()

    def until(self, part):
        """Returns when this part of the length is over."""
        moment = self.begun + int(part * self.seconds * SECOND)
        wait_until(f"{part:.0%} of the time is over", lambda: time.time_ns() >= moment, within=self.seconds + MINUTE)

    @contextlib.contextmanager
    def act(self, name, down=False):
        begin = time.time_ns()
        print(f"{(begin - self.begun) / SECOND:.0f} s: {name}", flush=True)
        yield
        self.acts.append(Act(name, begin, time.time_ns(), down))
        print(f"{(time.time_ns() - self.begun) / SECOND:.0f} s: {name}, done", flush=True)

    def has_lanes(self, count, *services):
        wait_until(f"{count} lanes are assigned", lambda: sum(
            lane["topic"] == self.run.topic for service in services for lane in json.loads(service.get("/status"))["lanes"]) == count)

    def sample(self):
        """What is committed, and how much memory there is."""
        ends = {place: end for place, (_, end) in self.run.watermarks().items()}
        self.samples.append((time.time_ns(), ends, dict(self.run.committed())))
        for service in self.run.services:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, StopIteration):
                self.memory.append((time.time_ns(), service.name, resident(service.process.pid)))

    def offered(self, kinds):
        """{place: time} of the acknowledged events of these types."""
        found = {}
        for kind in kinds:
            with open(self.writers[kind].acks, encoding="utf-8") as lines:
                for fields in map(json.loads, lines):
                    found[fields["topic"], fields["partition"], fields["offset"]] = fields["time"]
        return found

    def flow(self, receiver):
        kinds = [kind for kind in self.writers if receiver.wants(kind)]
        return Flow(receiver.name, self.offered(kinds), [(place_of(one.id)[0], one.time) for one in receiver.deliveries])

    def topics(self):
        return [f"{self.run.topic}-{self.run.group}-retry-{delay}" for delay in LADDER]


def resident(pid):
    """MiB of a running process."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


class Sampling(threading.Thread):
    """Samples every few seconds until it is stopped."""

    def __init__(self, shop):
        super().__init__(daemon=True)
        self.shop, self.stopping, self.every = shop, threading.Event(), 5 if shop.seconds >= LONG else 2
        self.start()

    def run(self):
        while not self.stopping.wait(self.every):
            with contextlib.suppress(Failed):
                self.shop.sample()

    def stop(self):
        self.stopping.set()
        self.join(MINUTE)


def scenario(run):
    seconds = length(sys.argv[1] if len(sys.argv) > 1 else "80s")
    with contextlib.ExitStack() as cleanup:
        shop = Shop(run, seconds, cleanup)
        service = shop.service("first")
        shop.has_lanes(PARTITIONS, service)
        shop.write()
        sampling = Sampling(shop)
        cleanup.callback(sampling.stop)
        last = tell(shop, service)
        sampling.stop()
        shop.letters = last.metric("dead_letters_total")
        last.stop()
        judge(shop)


def length(text):
    return float(text[:-1]) * {"s": 1, "m": MINUTE}[text[-1]]


def tell(shop, first):
    """The acts; returns the service that is left."""
    shop.until(DIES)
    shop.moments["dies"] = time.time_ns()
    shop.dead.die(503)
    shop.until(TERM)
    with shop.act("SIGTERM and start", down=True):
        first.stop()
        second = shop.service("second")
        shop.has_lanes(PARTITIONS, second)
    shop.until(JOINS)
    with shop.act("a member joins"):
        guest = shop.service("guest")
        wait_until("the new member delivers", lambda: guest.processed() >= LIMIT)
    shop.until(LEAVES)
    with shop.act("a member leaves"):
        guest.stop()
        shop.has_lanes(PARTITIONS, second)
    shop.until(KILL)
    with shop.act("kill -9 and start", down=True):
        second.kill()
        third = shop.service("third")
        shop.has_lanes(PARTITIONS, third)
    shop.until(BACK)
    shop.moments["back"] = time.time_ns()
    shop.dead.revive()
    shop.until(1)
    for writers in shop.writers.values():
        writers.finish()
    shop.moments["end"] = time.time_ns()
    shop.run.wait_for_no_lag([shop.run.topic, *shop.topics()], within=700 + 2 * MINUTE)
    return third


def judge(shop):
    """Prints every figure before the first expectation fails."""
    begin, end = shop.begun, shop.moments["end"]
    living, dead = [shop.flow(receiver) for receiver in shop.living], shop.flow(shop.dead)
    wrong = [*told_rates(shop, living, begin, end), *told_repeats(shop, living, dead), *told_commits(shop), *told_memory(shop),
             *told_dead(shop, dead)]
    for flow in (*living, dead):
        if flow.missing or flow.strange:
            wrong.append(f"{flow.name} lacks {len(flow.missing)} events, and got {len(flow.strange)} that it did not want")
    for receiver in (*shop.living, shop.dead):
        expect_equal(0, receiver.unverified, f"requests to {receiver.name} with a wrong signature")
    expect(not wrong, "\n".join(wrong))


def told_rates(shop, living, begin, end):
    print(f"{'':<10}{'offered':>9}{'delivered':>11}{'delivered/offered':>19}{'slowest 10 s':>14}{'longest gap (s)':>17}")
    for flow in living:
        slowest = min(ratio for at, ratio in flow.windows(begin, end) if not touched(at, at + 10 * SECOND, shop.acts))
        gap = flow.longest_gap(begin, end, shop.acts)
        print(f"{flow.name:<10}{len(flow.offered):>9,}{len(flow.first):>11,}{flow.ratio(begin, end):>19.3f}{slowest:>14.2f}{gap:>17.1f}")
    print_series(shop, living, begin, end)
    for flow in living:
        if flow.ratio(begin, end) < AT_LEAST:
            yield f"{flow.name} got {flow.ratio(begin, end):.1%} of what was offered while it was"
        for at, ratio in stalls(flow, begin, end, shop.acts, STALL):
            yield f"{flow.name} got {ratio:.0%} of what was offered in the 10 s from {(at - begin) / SECOND:.0f} s"


def print_series(shop, living, begin, end):
    """The slowest of the living in each window, beside what was done."""
    windows = [flow.windows(begin, end) for flow in living]
    print("delivered / offered in each 10 s, of all living ones (of the slowest one); * while nobody was there:")
    words = []
    for row in zip(*windows):
        ratios = [ratio for _, ratio in row]
        mark = "*" if touched(row[0][0], row[0][0] + 10 * SECOND, shop.acts) else ""
        words.append(f"{statistics.mean(ratios):.2f}({min(ratios):.2f}){mark}")
    for place in range(0, len(words), 10):
        print(f"{place * 10:>6} s  {' '.join(words[place:place + 10])}")


def told_repeats(shop, living, dead):
    found = by_act([*living, dead], shop.acts)
    for act in [Act("no act", 0, 0), *shop.acts]:
        repeats = found[act.name]
        print(f"{len(repeats)} deliveries were repeated after: {act.name}")
        if act.name != "kill -9 and start":
            if repeats:
                yield f"{len(repeats)} deliveries were repeated after: {act.name}: {repeats[:3]}"
            continue
        early = {identity for _, identity, _, first in repeats if first < act.begin - 3 * SECOND}
        print(f"{len(early)} events of them had been delivered more than 3 s before the kill")
        if len(early) > PARTITIONS:
            yield f"{len(early)} events that were delivered more than 3 s before the kill came again: {sorted(early)[:5]}"
        if len(repeats) > 3 * len(LIVING) * (FOR_ALL + FOR_ONE):
            yield f"{len(repeats)} deliveries were repeated after a kill: more than those of 3 s"


def told_commits(shop):
    found = behind(shop.samples)
    calm = [seconds for at, seconds in found if not touched(at, at + 1, shop.acts)]
    print(f"committed: {statistics.median(calm):.1f} s (median), {max(calm):.1f} s (at most) behind the end of the log; "
          f"{max(seconds for _, seconds in found):.1f} s also while nobody was there")
    late = [(at, seconds) for at, seconds in found if seconds > MINUTE and not touched(at, at + 1, shop.acts)]
    if late:
        yield f"commits were {max(late, key=lambda one: one[1])[1]:.0f} s behind at {(late[0][0] - shop.begun) / SECOND:.0f} s"


def told_memory(shop):
    for name in dict.fromkeys(name for _, name, _ in shop.memory):
        own = [mib for _, of, mib in shop.memory if of == name]
        third = max(1, len(own) // 3)
        early, late = statistics.median(own[third // 2:third // 2 + third]), statistics.median(own[-third:])
        print(f"memory of {name}: {own[0]:.0f} MiB at first, {early:.0f} in the first half, {late:.0f} at the end, {max(own):.0f} at most")
        if late > MEMORY_GROWS * early:
            yield f"the memory of {name} grew from {early:.0f} to {late:.0f} MiB"


def told_dead(shop, dead):
    dies, back = shop.moments["dies"], shop.moments["back"]
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
    last, count = {}, {}  # {origin: where it was parked last}
    for topic in shop.topics():
        for fields in map(json.loads, shop.run.tool("read", topic)):
            headers = {name: bytes.fromhex(value) for name, value in fields["headers"]}
            origin = (headers["laneway-retry-topic"].decode(), int(headers["laneway-retry-partition"]), int(headers["laneway-retry-offset"]))
            here = (fields["timestamp"], topic, fields["partition"], fields["offset"])
            last[origin] = max(here, last.get(origin, here))
            count[topic] = count.get(topic, 0) + 1
    for topic in shop.topics():
        lines = {}
        for origin, (_, where, partition, offset) in last.items():
            if where == topic:
                lines.setdefault(partition, []).append((offset, origin))
        most = max((overtaken([origin for _, origin in sorted(line)], dead.first) for line in lines.values()), default=0)
        print(f"{topic.rsplit('-', 1)[1]}: {count.get(topic, 0)} records were parked there; {sum(map(len, lines.values()))} events were delivered "
              f"from there, and overtook each other by {most:.1f} s at most")
        if most > PARK_AFTER:
            yield f"an event from {topic} overtook another one by {most:.0f} s"


if __name__ == "__main__":
    harness.main("webhook-isolation", scenario)
