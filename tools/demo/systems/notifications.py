"""20,000 records/s in, 8,000/s out: flat memory, an alert, none lost; beside it the published way, which loses records"""
import time

from ..alerts import Scrapes
from ..evidence import acknowledged, successes
from ..naive import Naive
from ..verdict import Account

TARGETS = ("laneway", "kafka_tool", "naive_consumer")
SECONDS = 30
CONFIG = "config/examples/notifications.yaml"
TOPIC, GROUP, NAIVE_GROUP, PARTITIONS, RATE = "notifications", "notifications", "naive", 16, 20_000
# One pool of 64 workers with the same work, a queue of a thousand, and the published way with a full pool.
WORK = ("--shared", "--on-full", "drop", "--workers", 64, "--queue", 1000, "--sleep", 8, "--commit", 1000)
ALERT = "LanewayRejections"
MIB = 1 << 20
MOST_GROWTH = 10 * MIB  # of memory in the second half of the overload
MOST = (64 + 48) * MIB  # lanes.memory of CONFIG, and what a service without records takes
NAIVE_EXTRA = 10.0


class Watch:
    """Samples once a second, and shows the present."""

    def __init__(self, stage, member, naive):
        self.stage, self.member, self.naive = stage, member, naive
        self.scrapes = Scrapes("laneway_pool_rejections_total", "laneway_pool_jobs_total")
        self.memory, self.next, self.lag, self.overloaded = [], time.monotonic(), 0, True

    def __call__(self):
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + 1
        if self.overloaded:
            self.scrapes.add(self.member.get("/metrics"))
            self.memory.append(self.member.resident())
            if len(self.memory) % 3 == 1:  # the question is a process
                self.lag = self.stage.kafka.lag(GROUP, TOPIC)
        dropped = self.naive.counters().get("dropped", 0)
        self.stage.show(f"laneway done {self.member.finished():,} lag {self.lag:,} memory {self.memory[-1] / MIB:.0f} MiB | "
                        f"naive done {self.naive.finished():,} dropped {dropped:,}")


def play(stage):
    stage.start_kafka({TOPIC: PARTITIONS})
    member = stage.member("laneway", CONFIG)
    naive = stage.watched(Naive("naive", stage, TOPIC, NAIVE_GROUP, *WORK))
    stage.until("both have partitions", lambda: len(member.lanes()) == PARTITIONS and naive.counters())
    watch = Watch(stage, member, naive)
    writer = stage.kafka.write(TOPIC, "--rate", RATE, "--count", int(RATE * stage.seconds))
    stage.say(f"{RATE:,} records/s for {stage.seconds:.0f} s; 64 workers can do 8,000/s")
    stage.until("the writer ends", lambda: not writer.running(), watch)
    stage.say("the peak is over; the backlog waits in Kafka")
    stage.until("laneway has committed everything", lambda: watch.lag == 0 and member.finished() >= int(RATE * stage.seconds), watch,
                within=600)
    watch.overloaded = False
    extra = time.monotonic() + NAIVE_EXTRA
    stage.until("the naive way ends", lambda: time.monotonic() > extra or stage.kafka.lag(NAIVE_GROUP, TOPIC) == 0, watch)
    for process in (member, naive):
        process.stop()
        stage.ended(process)
    judge(stage, watch)


def judge(stage, watch):
    verdict, produced = stage.verdict, acknowledged(stage.kafka.acks(TOPIC))
    laneway = verdict.account(Account("laneway", produced, successes([watch.member.journal]), stage.kafka.committed(GROUP, TOPIC)))
    naive = verdict.account(Account("naive", produced, successes([watch.naive.journal]), stage.kafka.committed(NAIVE_GROUP, TOPIC)))
    half = len(watch.memory) // 2
    first, peak = max(watch.memory[:half]), max(watch.memory)
    verdict.note(f"laneway: {laneway.rate:,.0f} records/s; memory at most {first / MIB:.0f} MiB in the first half of the overload, "
                 f"{peak / MIB:.0f} MiB in all of it")
    verdict.note(f"naive: {naive.rate:,.0f} records/s; each record that a full pool rejects is gone: pause, sleep 50 ms, resume, continue")
    verdict.check(laneway.complete(), "laneway finished and committed every record")
    verdict.check(laneway.duplicated == 0, "laneway finished none twice")
    verdict.check(peak - first < MOST_GROWTH and peak < MOST, "laneway's memory was flat: the backlog waited in Kafka")
    verdict.check(watch.scrapes.fires(ALERT, stage.folder),
                  f"{ALERT} fires on the scraped metrics (a second of the run for a minute of the rule)")
