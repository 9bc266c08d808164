"""logins, images and a batch on four workers in three priorities: lower ones help higher ones, and none starves"""
import time

from .. import tiers
from ..alerts import Scrapes
from ..broker import ROOT
from ..evidence import acknowledged, percentile, successes
from ..verdict import Account

TARGETS = ("laneway", "kafka_tool", "plugin_tiers")
SECONDS = 10
CONFIG = "config/examples/priority-tiers.yaml"
PLUGIN = ROOT / "build" / "integration" / "plugins" / "tiers.so"
TOPIC, GROUP, PARTITIONS = "jobs", "priority-tiers", 1  # one partition: the four workers are all there are
TIERS, DEFAULT, WORKERS = ("high", "medium", "low"), "medium", {"high": 1, "medium": 2, "low": 1}
LONGEST_WAIT = 2.0  # s, of CONFIG
DELIVERY = 1.0  # s that a record may take from its producer to its pool
ITEMS, CHUNK = 1_000_000, 1_000  # of the batch; of one of its records
FLOOD = 100  # high records at once for each second of the other phases: several seconds of work for all workers
BURST = 100  # high records while the whole batch is one record
ALERT, DEEP = "LanewayUrgentPoolDeep", 100  # records that wait in a pool that others help
LOOKS = 3  # at the metrics while the pool high is deep; each stands for a minute of the rule


class Story:
    def __init__(self, stage, member):
        self.stage, self.member, self.begun, self.sent = stage, member, {}, 0
        self.scrapes = Scrapes(*(f"laneway_named_pool_{name}" for name in ("queue_depth", "waiting", "helpers")))

    def phase(self, name, text):
        """From the first record of one phase to the first one of the next."""
        self.begun[name] = time.time_ns()
        self.stage.say(text)

    def write(self, priority, count, rate=0, value=None):
        count = max(1, int(count))
        self.sent += count
        options = ["--header", f"priority={priority}", "--count", count, "--value", value or CHUNK]
        return self.stage.kafka.write(TOPIC, *options, *(["--rate", rate] if rate else []))

    def pools(self):
        return {pool["name"]: pool for pool in self.member.status().get("pools", [])}

    def present(self):
        pools = self.pools()
        if pools and pools["high"]["queued"] + pools["high"]["waiting"] > 2 * DEEP and self.scrapes.count < LOOKS:
            self.scrapes.add(self.member.get("/metrics"))
        rows = [f"  {name:<8} running {pool['running']:>2}, {pool['borrowed']:>2} of them on workers of other pools   queued "
                f"{pool['queued']:>4}  waiting {pool['waiting']:>5}  {pool['rate']:>6.1f}/s" for name, pool in pools.items()]
        short = " | ".join(f"{name}: {pool['running']} run, {pool['queued'] + pool['waiting']} wait" for name, pool in pools.items())
        self.stage.show(f"{short} | done {self.member.finished():,}", rows)

    def written(self, *writers):
        self.stage.until("the writers end", lambda: not any(writer.running() for writer in writers), self.present, within=600)

    def drained(self):
        # The brokers are asked last: each question is a process, which takes time from the workers.
        self.stage.until("all records are committed", lambda: self.member.finished() >= self.sent and self.stage.kafka.lag(GROUP, TOPIC) == 0,
                         self.present, within=600)


def first_records(story):
    """Before the first phase: a lane holds until its first commit, and programs are slower at first."""
    story.written(*(story.write(priority, 1) for priority in TIERS))
    story.drained()


def calm(story, seconds):
    story.phase("calm", "calm: 20 logins/s, and nothing else")
    story.written(story.write("high", 20 * seconds, 20))
    story.drained()


def mixed(story, seconds):
    story.phase("mixed", "mixed: 10 logins/s, 4 texts/s, as many parts of a batch, and a priority that nobody knows")
    story.written(*(story.write(priority, rate * seconds, rate)
                    for priority, rate in (("high", 10), ("medium", 3), ("urgent", 1), ("low", 4))))
    story.drained()


def flood_of_low(story, seconds):
    story.phase("flood of low", f"a flood of low: a batch of {ITEMS:,} items in {ITEMS // CHUNK:,} records, and 20 logins/s beside it")
    story.written(story.write("low", ITEMS // CHUNK), story.write("high", 20 * seconds, 20))
    story.drained()


def flood_of_high(story, seconds):
    count = int(FLOOD * max(seconds, 4))
    story.phase("flood of high", f"a flood of high: {count:,} logins at once, and 2 texts and 2 parts of a batch a second beside them")
    story.written(story.write("high", count), *(story.write(priority, 2 * seconds, 2) for priority in ("medium", "low")))
    story.drained()


def one_record(story):
    story.phase("one record", f"the same batch as one record, and {BURST} logins at once when it has begun")
    story.written(story.write("low", 1, value=ITEMS))
    story.stage.until("the batch has begun", lambda: story.pools().get("low", {}).get("running"), story.present)
    story.written(story.write("high", BURST))
    story.drained()


def play(stage):
    # By the broker's clock, so that no start of a producer counts as a record's time.
    stage.start_kafka({TOPIC: PARTITIONS}, "message.timestamp.type=LogAppendTime")
    member = stage.member("laneway", CONFIG, **{f"pools__{tier}__handler__plugin__library": PLUGIN for tier in TIERS})
    stage.until("it has its partition", lambda: len(member.lanes()) == PARTITIONS)
    story = Story(stage, member)
    first_records(story)
    for phase in (calm, mixed, flood_of_low, flood_of_high):
        phase(story, stage.seconds)
    one_record(story)
    member.stop()
    stage.ended(member)
    judge(story)


def judge(story):
    stage, verdict = story.stage, story.stage.verdict
    found = successes([story.member.journal])
    account = verdict.account(Account("laneway", acknowledged(stage.kafka.acks(TOPIC)), found, stage.kafka.committed(GROUP, TOPIC)))
    jobs = tiers.jobs(tiers.written(TOPIC, stage.kafka.tool("read", TOPIC)), found, TIERS, DEFAULT)
    phases = tiers.by_phase(jobs, story.begun)
    table(verdict, phases)
    figures(verdict, phases)
    verdict.check(account.complete() and account.given_up == 0, "every record was finished and committed; none was lost or given up")
    verdict.check(account.duplicated == 0, "no record was done twice")
    verdict.check(all(job.tier == job.pool for job in jobs), "each record came to the pool of its priority, an unknown one to medium")
    check_workers(verdict, jobs)
    check_starvation(verdict, phases["flood of high"])
    verdict.check(story.scrapes.count == LOOKS and story.scrapes.fires(ALERT, stage.folder),
                  f"{ALERT} fires on the scraped metrics of the flood of high (a look for a minute of the rule)")
    verdict.check(story.member.process.returncode == 0, "the stop was clean")


def table(verdict, phases):
    for line in tiers.HEAD:
        verdict.note(line)
    for phase, jobs in phases.items():
        for tier in TIERS:
            if some := tiers.of(jobs, tier):
                verdict.note(tiers.row(phase, tier, some))


def figures(verdict, phases):
    """What depends on the machine: it is shown, and decides nothing."""
    before, beside = (percentile(sorted(job.done for job in tiers.of(phases[phase], "high")), 99) for phase in ("calm", "flood of low"))
    verdict.note(f"99 of 100 logins were done within {before:,.0f} ms while it was calm, and within {beside:,.0f} ms beside the flood of "
                 f"low: {beside / before:.1f} times that")
    for phase, tier in (("flood of low", "low"), ("flood of high", "high")):
        jobs = tiers.of(phases[phase], tier)
        verdict.note(f"the {phase}: {tiers.per_second(jobs):,.0f} {tier} records/s, at most {tiers.at_once(jobs)} of them at once")
    for phase, batch in (("flood of high", f"with parts of {CHUNK:,} items"), ("one record", f"with one record of {ITEMS:,} items")):
        longest = max(job.took for job in tiers.of(phases[phase], "low"))
        verdict.note(f"{batch}, which took up to {longest:,.0f} ms, at most {tiers.at_once(tiers.of(phases[phase], 'high'))} logins ran at "
                     "once")


def check_workers(verdict, jobs):
    """Which workers ran what, by how many records ran at once."""
    high, low, not_high = tiers.of(jobs, "high"), tiers.of(jobs, "low"), [job for job in jobs if job.tier != "high"]
    workers = sum(WORKERS.values())
    verdict.check(tiers.at_once(high) == workers, f"all {workers} workers ran high records at once: those of medium and low helped")
    verdict.check(tiers.at_once(low) <= WORKERS["low"] and tiers.at_once(not_high) <= workers - WORKERS["high"],
                  "no worker ran a record of a lower priority than its own: that of high was always there for high")


def check_starvation(verdict, flood):
    high, low = tiers.of(flood, "high"), tiers.of(flood, "low")
    rest = max(job.took for job in flood) / 1000
    verdict.note(f"in the flood of high a low record waited for up to {max(job.began for job in low) / 1000:.1f} s, and a login for up to "
                 f"{max(job.began for job in high) / 1000:.1f} s")
    verdict.check(tiers.lateness(low, LONGEST_WAIT) <= rest + DELIVERY,
                  f"no low record starved: each began within {LONGEST_WAIT:.0f} s, the rest of a running record (up to {rest:.1f} s), and "
                  f"{DELIVERY:.0f} s of delivery")
