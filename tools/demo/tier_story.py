"""The story of one member whose pools have priorities: what it writes and shows, and what holds at the end of every such story."""
import time

from . import tiers
from .alerts import Scrapes
from .evidence import acknowledged, successes
from .verdict import Account

TIERS, DEFAULT, PARTITIONS = ("high", "medium", "low"), "medium", 1  # one partition, so that the workers are all there are
CHUNK = 1_000  # the value of a record, unless another is given: items of a batch
DEEP = 100  # records that wait in a pool that others help, for the alert
LOOKS = 3  # at the metrics while the pool high is deep; each stands for a minute of the rule


class Story:
    def __init__(self, stage, member, topic, group):
        self.stage, self.member, self.topic, self.group, self.begun, self.sent = stage, member, topic, group, {}, 0
        self.scrapes = Scrapes(*(f"laneway_named_pool_{name}" for name in ("queue_depth", "waiting", "helpers")))

    def phase(self, name, text):
        """From the first record of one phase to the first one of the next."""
        self.begun[name] = time.time_ns()
        self.stage.say(text)

    def write(self, priority, count, rate=0, value=None):
        count = max(1, int(count))
        self.sent += count
        options = ["--header", f"priority={priority}", "--count", count, "--value", value or CHUNK]
        return self.stage.kafka.write(self.topic, *options, *(["--rate", rate] if rate else []))

    def pools(self):
        return {pool["name"]: pool for pool in self.member.status().get("pools", [])}

    def present(self):
        pools = self.pools()
        if pools and pools["high"]["queued"] + pools["high"]["waiting"] > 2 * DEEP and self.scrapes.count < LOOKS:
            self.scrapes.add(self.member.get("/metrics"))
        rows = [f"{name:<6}  running {pool['running']} ({pool['borrowed']} by helpers)  queued {pool['queued']:>3}  "
                f"waiting {pool['waiting']:>4}  {pool['rate']:>6.1f}/s" for name, pool in pools.items()]
        short = " | ".join(f"{name}: {pool['running']} run, {pool['queued'] + pool['waiting']} wait" for name, pool in pools.items())
        self.stage.show(f"{short} | done {self.member.finished():,}", rows)

    def written(self, *writers):
        self.stage.until("the writers end", lambda: not any(writer.running() for writer in writers), self.present, within=600)

    def drained(self):
        # The brokers are asked last: each question is a process, which takes time from the workers.
        self.stage.until("all records are committed", lambda: self.member.finished() >= self.sent and self.stage.kafka.lag(self.group, self.topic) == 0,
                         self.present, within=600)


def first_records(story):
    """Before the first phase: a lane holds until its first commit, and programs are slower at first."""
    story.written(*(story.write(priority, 1) for priority in TIERS))
    story.drained()


def begin(story):
    story.stage.until("it has its partition", lambda: len(story.member.lanes()) == PARTITIONS)
    first_records(story)
    return story


def end(story):
    story.member.stop()
    story.stage.ended(story.member)


def judged(story):
    """Checks that hold for every story. Returns its jobs."""
    kafka, verdict = story.stage.kafka, story.stage.verdict
    found = successes([story.member.journal])
    account = verdict.account(Account(story.member.name, acknowledged(kafka.acks(story.topic)), found,
                                      kafka.committed(story.group, story.topic)))
    verdict.check(account.complete() and account.given_up == 0, "every record was finished and committed; none was lost or given up")
    verdict.check(account.duplicated == 0, "no record was done twice")
    verdict.check(story.member.process.returncode == 0, "the stop was clean")
    return tiers.jobs(tiers.written(story.topic, kafka.tool("read", story.topic)), found, TIERS, DEFAULT)


def table(verdict, phases):
    for line in tiers.HEAD:
        verdict.note(line)
    for phase, jobs in phases.items():
        for tier in TIERS:
            if some := tiers.of(jobs, tier):
                verdict.note(tiers.row(phase, tier, some))
