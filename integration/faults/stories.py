#!/usr/bin/python3
"""Random stories on a real Kafka: stories.py [SEED ...]

Each seed is a story of drawn.py: a configuration, a load and faults of its own. They are played side by side on one Kafka, which may
be shared. The facts are those of scenario.py, and so is the judge; a story may have poison and retry topics besides. A story that
fails is printed in plain words and cut down to a smaller one, for as long as LANEWAY_SHRINK says (s; 0: not).
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "framework"))
import harness  # noqa: E402
from downstream import Downstream, is_poison  # noqa: E402
from harness import KAFKA_TOOL, PLUGINS, Failed, die_with_parent, expect, merged, wait_until  # noqa: E402

import drawn  # noqa: E402
import plants  # noqa: E402
from acts import Acts  # noqa: E402
from anew import Anew  # noqa: E402
from facts import Facts, Fault  # noqa: E402
from gathering import acknowledged_in, copies_in, gaps_in, number_of, parked_in, read_log, requests_of  # noqa: E402
from judge import judge  # noqa: E402
from members import Members  # noqa: E402
from offsets_topic import read_group  # noqa: E402
from rights import LOGIN  # noqa: E402

AT_ONCE = 4  # stories side by side
LETTERS_ALLOWED = 25  # of records that work
READY = 15.0  # s after the last fault
DOUBT = 20.0  # s more where a member has to find out that a topic is another one: docs/troubleshooting.md
SETTLING = 60.0  # s
PARKED_AGAIN = 70.0  # s more for what was parked a second time


class StoryMembers(Members):
    """Members with the story's settings."""

    def __init__(self, run, work, story):
        super().__init__(run, work, story.strategy)
        self.story = story

    def settings(self, name):
        settings = merged(super().settings(name), self.story.settings())
        if self.story.static_ids:
            settings["kafka"]["group.instance.id"] = name
        if self.story.has("recreate topic"):
            settings["topics"] = [self.run.topic, Anew(self.run).topic]
        if self.story.has("corrupt batch"):
            settings["kafka"]["check.crcs"] = True
        if self.story.has("take rights"):
            settings["kafka"] = {**settings["kafka"], **LOGIN, "bootstrap.servers": self.run.only_plain}
        if self.story.pattern:
            settings["topics"] = [f"^{self.run.topic}"]  # which the dead-letter topic matches, too
        return settings

    def await_all_own(self):
        """There may be more members than partitions."""
        wait_until("the members own partitions", lambda: any(
            self.services[name].events("lane assigned") for name in self.running()), within=60)


class Trial:
    """One story."""

    TOPIC_SETTINGS = ()

    def __init__(self, run, story):
        self.run, self.story = run, story
        run.topic = run.group = f"story-{story.seed}-{os.getpid()}-{time.monotonic_ns() // 1_000_000 % 1_000_000}"
        self.acks = run.folder / "acks"
        self.acks.touch()
        self.writers = []
        self.facts = Facts(begun=time.time_ns())
        self.downstream = Downstream(run.folder, run.topic, tls=True, poison=story.poison,
                                     poison_kind="422" if story.rejects else "500")
        self.lock = threading.Lock()
        self.members = StoryMembers(run, self.work, story)
        self.acts = Acts(run, story, self.members, self.downstream, self.write)
        self.tracks = ThreadPoolExecutor(len(story.faults) + 3)  # a process dies with the thread that started it

    def work(self, name):
        url, authority = f"{self.downstream.url}/{name}", self.downstream.authority
        if self.story.handler == "exec":
            program = [sys.executable, str(harness.INTEGRATION / "framework" / "forwarder.py"), url, authority]
            # Dozens of programs start at once, and on a busy machine each takes seconds for its start.
            return {"handler": {"simulate": None, "exec": {"command": program, "timeout": "30s"}}}
        if self.story.handler == "plugin":
            plugin = {"library": str(PLUGINS / "forward.so"), "timeout": "3s", "config": {"url": url, "authority": authority}}
            return {"handler": {"simulate": None, "plugin": plugin}}
        http = {"url": url, "timeout": "3s", "ca_file": authority}
        if self.story.batch:
            http["batch"] = {"records": self.story.batch}
        return {"handler": {"simulate": None, "http": http}}

    @property
    def topics(self):
        """The topics that are written to."""
        return [self.run.topic, *([self.acts.anew.topic] if self.story.has("recreate topic") else [])]

    @property
    def others(self):
        """The topics to which records go on."""
        names = [f"{self.run.topic}-retry-{delay}" for delay in self.story.retry_topics]
        return names or (self.run.parking if self.story.parks else [])

    def create_topics(self):
        self.run.create(self.story.partitions, f"compression.type={self.story.compression}", *self.TOPIC_SETTINGS)
        more = [*self.others, *(topic + "-dlt" for topic in self.topics)]
        for topic in more:
            self.run.create(self.story.partitions + 2, topic=topic)
        if self.story.has("take rights"):
            self.acts.rights.give([*self.topics, *more])
        if self.story.has("recreate topic"):
            self.acts.anew.create()

    # The load.

    def write(self, partitions, *options):
        log = open(self.run.folder / f"{len(self.writers)}.writer", "wb")
        command = [KAFKA_TOOL, "--bootstrap", self.run.admin_bootstrap, "produce", self.run.topic, "--keys", str(self.story.keys),
                   "--size", str(self.story.size), "--acks-file", self.acks, "--partitions", ",".join(map(str, partitions))]
        with log:
            self.writers.append(subprocess.Popen([*command, *options], stdout=log, stderr=log, preexec_fn=die_with_parent))

    def load(self):
        everywhere = range(self.story.partitions)
        if self.story.burst:
            self.write(everywhere, "--count", str(self.story.burst))
        if not self.story.silent:
            self.write(everywhere, "--rate", str(drawn.BURST_RATE if self.story.burst else self.story.rate))

    def finish_writing(self):
        for writer in self.writers:
            if writer.poll() is None and "--count" not in writer.args:
                writer.terminate()
            expect(writer.wait(60) in (0, -signal.SIGTERM), f"a writer ended with {writer.returncode}")  # the latter: before it began
        self.acts.anew.finish_writing()

    # The faults.

    def follow(self, fault, begun, act):
        time.sleep(max(0.0, begun + fault.at - time.monotonic()))
        started = time.time_ns()
        what = act(fault)
        with self.lock:
            self.facts.faults.append(Fault(fault.kind, what, started, time.time_ns()))

    def begin_faults(self, begun):
        return [self.tracks.submit(self.follow, fault, begun, self.acts.act) for fault in self.story.faults]

    # The whole.

    def go(self):
        """The breaches, a line each."""
        self.create_topics()
        for _ in range(self.story.members):
            self.members.join()
        self.members.await_all_own()
        self.load()
        begun = time.monotonic()
        for followed in self.begin_faults(begun):
            followed.result()
        found = self.settle()
        self.members.note_ends()
        self.members.terminate_all(self.members.running())
        self.downstream.close()
        self.tracks.shutdown()
        self.gather()
        breaches, self.counts = judge(self.facts)
        if self.facts.parked:
            found += [f"BREACH of the judge: it does not see what was planted: {plant}"
                      for plant in plants.unseen(self.facts, plants.PARKED_PLANTS)]
        return found + [f"BREACH of {rule}: " + "\n    ".join(sentences) for rule, sentences in breaches.items()]

    def settle(self):
        found = []
        try:
            wait_until("all members are ready", self.all_ready, READY + (DOUBT if self.story.has("recreate topic") else 0), every=0.5)
        except Failed as failure:
            reasons = [self.members.services[name].readiness().strip() for name in self.members.running()]
            found.append(f"BREACH of ready again: {failure}: {reasons}")
        self.finish_writing()
        try:
            wait_until("the group has no lag", self.no_lag, SETTLING + (PARKED_AGAIN if self.story.parks else 0), every=1)
        except Failed as failure:
            found.append(f"BREACH of progress: {failure}")
        self.facts.finished = time.time_ns()
        return found

    def all_ready(self):
        self.acts.pass_over_corrupt()
        return all(self.members.services[name].readiness().startswith("ready") for name in self.members.running())

    def no_lag(self):
        self.acts.pass_over_corrupt()
        return self.run.has_no_lag([*self.topics, *self.others])

    def gather(self):
        facts = self.facts
        facts.lives, facts.requests = self.members.lives, requests_of(self.downstream)
        facts.commits, facts.generations = read_group(self.run.tool("read", "__consumer_offsets"), self.run.group)
        facts.commits = [commit for commit in facts.commits if commit.partition[0] == self.run.topic]
        facts.ordered = self.story.order != "none"
        lows = {partition: low for partition, (low, _) in self.run.watermarks().items()}
        for record in acknowledged_in(self.acks):
            facts.poison |= {record.number} if is_poison(record.number, self.story.poison) else set()
            deleted = record.offset < lows.get(record.partition, 0)
            (facts.deleted if deleted else facts.acknowledged).append(record)
        for service in self.members.services.values():
            for partition, gaps in gaps_in(service.log).items():
                facts.gaps.setdefault(partition, []).extend(gaps)
        read_log(self.run, facts)
        letters = copies_in(self.run, self.run.topic + "-dlt")
        facts.letters = [copy.origin for copy in letters]
        facts.letter_numbers = {copy.origin: number_of(copy.record) for copy in letters}
        facts.letters_allowed = LETTERS_ALLOWED
        facts.corrupt = {(topic, partition, offset) for topic, partition, first, last in self.acts.corrupt_batches
                         for offset in range(first, last + 1)}
        copies = [copy for topic in self.others for copy in copies_in(self.run, topic)]
        facts.passed_on = {copy.origin: number_of(copy.record) for copy in copies}
        facts.parked = parked_in(copies)
        if self.story.has("recreate topic"):
            self.acts.anew.tell(facts)
        facts.requests, facts.other_requests = ([request for request in facts.requests if self.is_other(request) == other]
                                                for other in (False, True))

    def is_other(self, request):
        """Whether it is not for a record of the story's topic. A request for a record of a retry topic names its origin."""
        place = (*request.partition, request.offset)
        parked = self.facts.parked.get(place)
        return (request.partition[0] != self.run.topic or (parked is not None and request.begun >= parked.time)
                or (request.attempt > self.story.attempts and place in self.facts.passed_on))

    def tell(self):
        lines = [self.story.text()]
        for fault in sorted(self.facts.faults, key=lambda fault: fault.begun):
            begun, ended = ((time - self.facts.begun) / 1e9 for time in (fault.begun, fault.ended))
            lines.append(f"  it happened at {begun:.1f} to {ended:.1f} s: {fault.kind} {fault.what}")
        return "\n".join([*lines, "  " + json.dumps(getattr(self, "counts", {}))])


def play(run, story, make):
    """(what happened, the breaches)"""
    with run.part(f"story-{story.seed}") as own:
        own.group_protocol = story.protocol
        trial = make(own, story)
        try:
            breaches = trial.go()
        except Failed as failure:
            breaches = [f"BREACH of the story's course: {failure}"]
        return trial.tell(), breaches


def shrink(run, story, breaches, until, make):
    """A smaller story with a breach of one of the same rules; the story itself if none is found in time."""
    rules = {breach.split(":")[0] for breach in breaches}
    smaller = True
    while smaller:
        smaller = False
        for candidate in story.smaller():
            if time.monotonic() > until:
                return story
            if rules & {breach.split(":")[0] for breach in play(run, candidate, make)[1]}:
                story, smaller = candidate, True
                break
    return story


def scenario(run, seeds, make=Trial, draw=drawn.draw, at_once=AT_ONCE):
    broken = []

    def one(seed):
        started = time.monotonic()
        story = draw(seed)
        told, breaches = play(run, story, make)
        print("\n".join([told, *breaches, f"story {seed}: {'BREACHES' if breaches else 'passed'} in "
                         f"{time.monotonic() - started:.1f} s"]), flush=True)
        if breaches:
            broken.append((story, breaches))
    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(one, seeds))
    for story, breaches in broken:
        until = time.monotonic() + float(os.environ.get("LANEWAY_SHRINK", "0"))
        print(f"seed {story.seed} cut down to\n  {shrink(run, story, breaches, until, make).text()}", flush=True)
    expect(not broken, "\n".join(f"story {story.seed}: {breach}" for story, breaches in broken for breach in breaches))


if __name__ == "__main__":
    harness.main("stories", lambda run: scenario(run, [int(word) for word in sys.argv[1:]] or drawn.FEW), secured=True)
