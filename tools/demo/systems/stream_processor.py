"""16 partitions with 8 workers each: busy lanes pause, members come and go, one is killed; beside it one naive poll loop"""
import signal
import time

from ..evidence import acknowledged, percentile, successes, waits
from ..naive import Naive
from ..screen import LEGEND, lane_letters
from ..verdict import Account

TARGETS = ("laneway", "kafka_tool", "naive_consumer")
SECONDS = 40
CONFIG = "config/examples/stream-processor.yaml"
TOPIC, GROUP, NAIVE_GROUP, PARTITIONS = "events", "stream-processor", "naive", 16
RATE, BUSY, BUSY_RATE = 960, [1, 6, 9, 14], 3600  # records/s to all partitions, and more to four of them: too many for 8 workers
JOIN, LEAVE, KILL = 0.3, 0.5, 0.8  # of the time in which records are written
# The same work, pools and commits as in CONFIG.
WORK = ("--on-full", "drop", "--workers", 8, "--queue", 64, "--sleep", 8, "--sleep-p99", 60, "--commit", 1000)
NAIVE_EXTRA = 10.0  # s for the naive way when laneway has done everything


class Story:
    def __init__(self, stage):
        self.stage, self.members, self.naive = stage, [], []
        self.lag, self.naive_lag, self.asked = 0, 0, 0.0

    def join(self):
        number = len(self.members) + 1
        self.members.append(self.stage.member(f"laneway-{number}", CONFIG))
        self.naive.append(self.stage.watched(Naive(f"naive-{number}", self.stage, TOPIC, NAIVE_GROUP, *WORK)))

    def present(self):
        """Rows for a terminal; a line for a pipe."""
        if time.monotonic() >= self.asked + 2:  # each question is a process
            self.asked = time.monotonic()
            self.lag = self.stage.kafka.lag(GROUP, TOPIC)
            self.naive_lag = self.stage.kafka.lag(NAIVE_GROUP, TOPIC)
        rows = [LEGEND]
        letters = {member.name: lane_letters(member.lanes(), PARTITIONS) for member in self.members if member.running()}
        rows += [f"{name}  {lanes}" for name, lanes in letters.items()]
        done, naive_done = (sum(process.finished() for process in group) for group in (self.members, self.naive))
        rows.append(f"naive      asleep {max((process.asleep() for process in self.naive), default=0):.0%} of its time")
        self.stage.show(f"laneway {' '.join(letters.values())} done {done:,} lag {self.lag:,} | "
                        f"naive done {naive_done:,} lag {self.naive_lag:,}", rows)

    def watch_until(self, part, begun):
        end = begun + part * self.stage.seconds
        self.stage.until("time passes", lambda: time.monotonic() >= end, self.present, within=self.stage.seconds + 60)

    def leave(self, number):
        """An orderly stop, of a member and of its naive counterpart."""
        for process in (self.members[number], self.naive[number]):
            process.stop()

    def works(self, number):
        """Waits until this member has partitions and has done records."""
        self.stage.until("a new member works", lambda: self.members[number].finished() > 500 < self.naive[number].finished(), self.present)

    def kill(self, number):
        for process in (self.members[number], self.naive[number]):
            process.kill()

    def done(self, group):
        return self.stage.kafka.lag(group, TOPIC) == 0


def play(stage):
    story, seconds = Story(stage), stage.seconds
    stage.start_kafka({TOPIC: PARTITIONS})
    story.join()
    stage.until("both have partitions", lambda: story.members[0].lanes() and story.naive[0].counters())
    begun = time.monotonic()
    writers = [stage.kafka.write(TOPIC, "--rate", RATE, "--count", int(RATE * seconds)),
               stage.kafka.write(TOPIC, "--rate", BUSY_RATE, "--count", int(BUSY_RATE * seconds),
                                 "--partitions", ",".join(map(str, BUSY)))]
    stage.say(f"{RATE:,} records/s to all partitions, {BUSY_RATE:,}/s more to the partitions {', '.join(map(str, BUSY))}")
    story.watch_until(JOIN, begun)
    joined_at = time.time_ns()
    stage.say("a second member joins; the naive group gets a second one, too")
    story.join()
    story.works(1)
    story.watch_until(LEAVE, begun)
    stage.say("the second member leaves: it drains its lanes and commits")
    story.leave(1)
    stage.ended(story.members[1], story.present)
    stage.ended(story.naive[1], story.present)
    story.join()
    story.works(2)
    story.watch_until(KILL, begun)
    story.kill(2)
    stage.say("kill -9 of the third member; its partitions come back after session.timeout.ms")
    stage.until("the writers end", lambda: not any(writer.running() for writer in writers), story.present)
    stage.until("laneway has committed everything", lambda: story.done(GROUP), story.present)
    stage.say("laneway has done everything")
    extra = time.monotonic() + NAIVE_EXTRA
    stage.until("the naive way is done", lambda: story.done(NAIVE_GROUP) or time.monotonic() > extra, story.present)
    for process in (story.members[0], story.naive[0]):
        process.stop()
        stage.ended(process, story.present)
    judge(story, joined_at)


def judge(story, joined_at):
    stage, verdict = story.stage, story.stage.verdict
    produced = acknowledged(stage.kafka.acks(TOPIC))
    found = successes([member.journal for member in story.members])
    found_naive = successes([process.journal for process in story.naive])
    laneway = verdict.account(Account("laneway", produced, found, stage.kafka.committed(GROUP, TOPIC)))
    naive = verdict.account(Account("naive", produced, found_naive, stage.kafka.committed(NAIVE_GROUP, TOPIC)))
    quiet = {place: at for place, at in produced.items() if at < joined_at and place[1] not in BUSY}
    for name, all_of, account in (("laneway", found, laneway), ("naive", found_naive, naive)):
        seconds = waits(quiet, all_of)
        verdict.note(f"{name}: {account.rate:,.0f} records/s; before the join a record of the partitions with little load waited "
                     f"{percentile(seconds, 50) * 1000:,.0f} ms (median), {percentile(seconds, 99) * 1000:,.0f} ms (99th percentile)")
    dropped = sum(process.counters()["dropped"] for process in story.naive)
    verdict.note(f"naive: the first poll loop slept {story.naive[0].asleep():.0%} of its time; it went on without {dropped:,} records that "
                 "a full pool had rejected")
    verdict.check(laneway.complete(), "laneway finished and committed every record")
    killed = story.members[2].journal.stem
    strange = [place for place, all_of in laneway.repeats.items() if all_of[0].journal != killed]
    verdict.check(not strange, "only records of the killed member ran twice: none by the join, the drain and the stop")
    verdict.check(all(member.process.returncode in (0, -signal.SIGKILL) for member in story.members), "each stop was clean")
