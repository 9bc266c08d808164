"""logins, images and a batch on four workers in three priorities: lower ones help higher ones, and none takes the others' share"""
from .. import tiers
from ..broker import ROOT
from ..evidence import percentile
from ..tier_story import CHUNK, LOOKS, PARTITIONS, TIERS, Story, begin, end, judged, table

TARGETS = ("laneway", "kafka_tool", "plugin_tiers")
SECONDS = 10
CONFIG = "config/examples/priority-tiers.yaml"
PLUGIN = ROOT / "build" / "integration" / "plugins" / "tiers.so"
TOPIC, GROUP, WORKERS = "jobs", "priority-tiers", {"high": 1, "medium": 2, "low": 1}
LONGEST_WAIT = 2.0  # s, of CONFIG
SHARE = 0.05  # of its workers' time, for the records of a pool that helps when they have waited for LONGEST_WAIT
DELIVERY = 1.0  # s that a record may take from its producer to its pool
ITEMS = 1_000_000  # of the batch
FLOOD = 100  # high records at once for each second of the other phases: several seconds of work for all workers
BURST = 100  # high records while the whole batch is one record
ALERT = "LanewayUrgentPoolDeep"

# A backlog of low: work that sleeps for 20 ms, so that workers are scarce and cores are not.
BACKLOG_TOPIC, BACKLOG_GROUP, KEPT = "backlog", "priority-backlog", 0.95
RATE, BACKLOG_RATE = 70, 45  # records/s of high, which needs 1.4 workers; low records for each second, more than are done meanwhile
WITHOUT_END, ALONE = 100, 50  # high records for each second, as many as both workers do; records/s of one worker
BACKLOG_CONFIG = f"""\
kafka: {{ bootstrap.servers: 127.0.0.1:9092, group.id: {BACKLOG_GROUP} }}
topics: [{BACKLOG_TOPIC}]
handler: {{ simulate: {{ sleep: 20ms }} }}
lanes: {{ park_after: 0s }}
route: {{ by: "header:priority", pools: {{ high: high }}, default: low }}
pools:
  high: {{ workers: 1 }}
  low: {{ workers: 1, helps: [high], longest_wait: {LONGEST_WAIT:.0f}s }}
"""


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
    stage.start_kafka({TOPIC: PARTITIONS, BACKLOG_TOPIC: PARTITIONS}, "message.timestamp.type=LogAppendTime")
    member = stage.member("laneway", CONFIG, **{f"pools__{tier}__handler__plugin__library": PLUGIN for tier in TIERS})
    story = begin(Story(stage, member, TOPIC, GROUP))
    for phase in (calm, mixed, flood_of_low, flood_of_high):
        phase(story, stage.seconds)
    one_record(story)
    end(story)
    beside = play_backlog(stage)
    judge(story)
    judge_backlog(beside)


def play_backlog(stage):
    """A pool that needs a part of its helper, alone and beside a backlog of the helper."""
    config = stage.folder / "backlog.yaml"
    config.write_text(BACKLOG_CONFIG)
    story = begin(Story(stage, stage.member("backlog", config), BACKLOG_TOPIC, BACKLOG_GROUP))
    seconds = 2 * stage.seconds
    story.phase("no backlog", f"a worker for high and one for low, which helps: {RATE} high records/s of 20 ms need 1.4 workers")
    story.written(story.write("high", RATE * seconds, RATE))
    story.drained()
    count = int(BACKLOG_RATE * (seconds + LONGEST_WAIT))
    story.phase("backlog of low", f"the same beside {count:,} low records, which have waited for longer than {LONGEST_WAIT:.0f} s")
    story.written(story.write("low", count))
    stage.for_seconds(LONGEST_WAIT, story.present)
    story.written(story.write("high", RATE * seconds, RATE))
    story.drained()
    play_without_end(story, max(stage.seconds, 4))
    end(story)
    return story


def play_without_end(story, seconds):
    """A pool that could use all of its helper's time, alone and beside a backlog of the helper."""
    count = int(WITHOUT_END * seconds)
    story.phase("endless high", f"{count:,} high records at once, which need both workers for {seconds:.0f} s")
    story.written(story.write("high", count))
    story.drained()
    lows = int(ALONE * (LONGEST_WAIT + 2 * SHARE * seconds + 1))
    story.phase("endless both", f"the same beside {lows:,} low records, which have waited for longer than {LONGEST_WAIT:.0f} s")
    story.written(story.write("low", lows))
    story.stage.for_seconds(LONGEST_WAIT, story.present)
    story.written(story.write("high", count))
    story.drained()


def judge(story):
    stage, verdict = story.stage, story.stage.verdict
    jobs = judged(story)
    phases = tiers.by_phase(jobs, story.begun)
    table(verdict, phases)
    figures(verdict, phases)
    verdict.check(all(job.tier == job.pool for job in jobs), "each record came to the pool of its priority, an unknown one to medium")
    check_workers(verdict, jobs)
    check_starvation(verdict, phases["flood of high"])
    verdict.check(story.scrapes.count == LOOKS and story.scrapes.fires(ALERT, stage.folder),
                  f"{ALERT} fires on the scraped metrics of the flood of high (a look for a minute of the rule)")


def judge_backlog(story):
    verdict = story.stage.verdict
    phases = tiers.by_phase(judged(story), story.begun)
    table(verdict, phases)
    alone, beside = (tiers.of(phases[phase], "high") for phase in ("no backlog", "backlog of low"))
    low = tiers.of(phases["backlog of low"], "low")
    got = tiers.busy(low, min(job.start for job in beside), max(job.end for job in beside))
    kept = tiers.done_of_written(beside) / tiers.done_of_written(alone)
    verdict.note(f"{tiers.per_second(alone):.0f} high records/s without a backlog of low, and {tiers.per_second(beside):.0f} beside it: "
                 f"{kept:.0%}, by the rates of the producers")
    verdict.note(f"beside high, low got {got:.0%} of its worker's time")
    verdict.check(kept >= KEPT and low[-1].start > beside[-1].start,
                  f"as long as there was a backlog of low, high kept at least {KEPT:.0%} of its records/s")
    verdict.check(got >= SHARE, f"beside high, low got at least {SHARE:.0%} of its worker's time")
    check_shares(verdict, phases)


def check_shares(verdict, phases):
    """While high always has records: by the time of the workers, which does not depend on the machine as the records/s do."""
    alone, beside = (tiers.of(phases[phase], "high") for phase in ("endless high", "endless both"))
    low = tiers.of(phases["endless both"], "low")
    kept, begin, end = tiers.worked(beside) / tiers.worked(alone), beside[0].start, beside[-1].start
    got, a_record = tiers.busy(low, begin, end), max(job.end - job.start for job in low) / (end - begin)
    verdict.note(f"with records without end, high did {tiers.per_second(alone):.1f} records/s without a backlog of low, and "
                 f"{tiers.per_second(beside):.1f} beside it: {kept:.1%} of the workers' time; low got {got:.1%} of its worker's time")
    verdict.check(kept >= KEPT and low[-1].start > end,
                  f"with records without end, high kept at least {KEPT:.0%} of the time of workers that it gets without a backlog of low")
    verdict.check(got + a_record >= SHARE, f"beside that, low got at least {SHARE:.0%} of its worker's time, but for one record")


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
    verdict.check(tiers.lateness(low, LONGEST_WAIT, SHARE) <= rest + DELIVERY,
                  f"no low record starved: each began within {LONGEST_WAIT:.0f} s, or when {SHARE:.0%} of the worker had paid for those "
                  f"before it (and {rest + DELIVERY:.1f} s)")
