#!/usr/bin/python3
"""Random faults that overlap, from a seed: scenario.py [SEED ...]

Three brokers, three members in one group, order by key, a web service with a journal of its own. Faults from plan.py for half a
minute, then the judge. Prints the faults as they happened, what was seen, and each breach. Several seeds run one after the other
on the same brokers; the exit code is 1 when one of them had breaches.
"""
import json
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "framework"))
import harness  # noqa: E402
from downstream import Downstream  # noqa: E402
from harness import KAFKA_TOOL, Failed, die_with_parent, expect, wait_until  # noqa: E402

import plan  # noqa: E402
import plants  # noqa: E402
from broker_logs import fencings  # noqa: E402
from cluster import Brokers  # noqa: E402
from facts import Facts, Fault  # noqa: E402
from gathering import acknowledged_in, copies_in, read_log, requests_of  # noqa: E402
from judge import judge  # noqa: E402
from members import Members  # noqa: E402
from offsets_topic import read_group  # noqa: E402

RATE, KEYS = 200, 45  # records/s; more keys than workers
SETTLING = 60.0  # s for the group to have no lag after the last fault: more than the judge allows
LATE = 3.0  # s
SLOW_WORK = 0.02  # share of the requests
BROKER_SETTINGS = ("leader.imbalance.check.interval.seconds=5", "unclean.leader.election.enable=false")


class Trial:
    """One seed."""

    TRACKS = tuple(track for track in plan.TRACKS if track != "retention")

    def __init__(self, run, seed):
        self.run, self.seed = run, seed
        run.topic = run.group = f"faults-{seed}-{time.time_ns() // 1_000_000_000 % 1_000_000}"
        self.acks = run.folder / f"{run.topic}.acks"
        self.writers, self.partitions = [], plan.PARTITIONS
        self.facts = Facts(begun=time.time_ns())
        self.brokers = Brokers(run)
        self.downstream = Downstream(run.folder, run.topic, slow=SLOW_WORK)
        self.members = Members(run, self.work, plan.strategy(seed))
        self.lock = threading.Lock()
        # Its threads stay until the end: a process that one of them has started dies with the thread.
        self.tracks = ThreadPoolExecutor(len(self.TRACKS))

    def create_topics(self):
        self.run.create(plan.PARTITIONS, "min.insync.replicas=2")
        self.run.create(plan.PARTITIONS + 2, topic=self.run.topic + "-dlt")

    def work(self, name):
        """The settings for what a member does with records."""
        return {"handler": {"simulate": None, "http": {"url": f"{self.downstream.url}/{name}", "timeout": "3s"}},
                "dead_letter": {"topic": "{topic}-dlt"}}

    # The records that are written.

    def write(self, partitions):
        log = open(self.run.folder / f"{self.run.topic}-{len(self.writers)}.writer", "wb")
        with log:
            self.writers.append(subprocess.Popen(
                [KAFKA_TOOL, "--bootstrap", self.run.admin_bootstrap, "produce", self.run.topic, "--one-in-flight", "--rate",
                 str(RATE * len(partitions) // plan.PARTITIONS), "--keys", str(KEYS), "--size", "60", "--acks-file", self.acks,
                 "--partitions", ",".join(map(str, partitions))], stdout=log, stderr=log, preexec_fn=die_with_parent))

    def finish_writing(self):
        for writer in self.writers:
            writer.terminate()
        for writer in self.writers:
            expect(writer.wait(60) == 0, f"a writer ended with {writer.returncode}")

    # The faults.

    def act(self, step):
        """Carries out one step; returns what it was about."""
        if step.track == "brokers" or step.kind == "move leaders":
            return self.brokers.act(step, self.run.topic)
        if step.track == "members":
            how = {"kill member": self.members.kill, "stop member": self.members.stop, "join": self.members.join_more,
                   "terminate member": self.members.terminate}[step.kind]
            return " ".join(how(step.choice, step.lasts))
        if step.track == "downstream":
            self.downstream.become(step.kind)
            time.sleep(step.lasts)
            self.downstream.become("work")
        else:
            self.add_partitions(step.choice)
        return ""

    def add_partitions(self, more):
        before, self.partitions = self.partitions, self.partitions + more
        self.brokers.add_partitions(self.run.topic, self.partitions)
        self.write(range(before, self.partitions))

    def follow(self, track, begun):
        """Leaves out steps that come too late because earlier steps took long."""
        for step in plan.plan(self.seed):
            if step.track != track or time.monotonic() - begun > plan.WINDOW + LATE:
                continue
            time.sleep(max(0.0, begun + step.at - time.monotonic()))
            started = time.time_ns()
            what = self.act(step)
            with self.lock:
                self.facts.faults.append(Fault(step.kind, what, started, time.time_ns()))
            if track == "brokers":
                self.brokers.await_all_in_sync([self.run.topic, "__consumer_offsets"])

    def faults(self):
        begun = time.monotonic()
        followed = [self.tracks.submit(self.follow, track, begun) for track in self.TRACKS]
        for track in followed:
            track.result()

    # The whole.

    def go(self):
        self.create_topics()
        for _ in range(plan.MEMBERS):
            self.members.join()
        self.write(range(plan.PARTITIONS))
        self.members.await_all_own()
        self.faults()
        time.sleep(5)  # records come for a while when all is well again
        self.finish_writing()
        self.settle()
        self.members.note_ends()
        self.members.terminate_all(self.members.running())
        self.downstream.close()
        self.tracks.shutdown()
        self.gather()

    def settle(self):
        try:
            wait_until("the group has no lag", self.run.has_no_lag, SETTLING, every=1)
        except Failed as failure:
            print(failure)  # the judge reports the missing records
        self.facts.finished = time.time_ns()

    def gather(self):
        facts = self.facts
        facts.lives = self.members.lives
        facts.requests = requests_of(self.downstream)
        facts.commits, facts.generations = read_group(self.run.tool("read", "__consumer_offsets"), self.run.group)
        clients = {member: client for generation in facts.generations for member, client in generation.members.items()}
        facts.fencings = fencings(self.brokers.logs(), self.run.group, clients)
        facts.acknowledged = acknowledged_in(self.acks)
        read_log(self.run, facts)
        facts.letters = [copy.origin for copy in copies_in(self.run, self.run.topic + "-dlt")]
        (self.run.folder / f"{self.run.topic}.facts").write_bytes(pickle.dumps(facts))

    def tell_faults(self):
        """As they happened."""
        protocol = plan.strategy(self.seed) if harness.GROUP_PROTOCOL == "classic" else harness.GROUP_PROTOCOL
        print(f"seed {self.seed} ({protocol}), seconds since the run began:")
        for fault in sorted(self.facts.faults, key=lambda fault: fault.begun):
            begun, ended = ((time - self.facts.begun) / 1e9 for time in (fault.begun, fault.ended))
            print(f"  {begun:6.1f} to {ended:6.1f}  {fault.kind} {fault.what}")

    def tell(self):
        """Prints the result; returns the breaches."""
        breaches, counts = judge(self.facts)
        print(json.dumps(counts))
        found = [f"BREACH of {rule}: " + "\n  ".join(sentences) for rule, sentences in breaches.items()]
        missed = plants.unseen(self.facts)
        print(f"planted into these facts: {len(plants.PLANTS)} breaches, not seen by the judge: {missed}", flush=True)
        return [*found, *(f"a planted breach was not seen: {plant}" for plant in missed)]


def scenario(run, seeds, make):
    broken = {}
    for seed in seeds:
        trial = make(run, seed)
        started = time.monotonic()
        trial.go()
        trial.tell_faults()
        breaches = trial.tell()
        print("\n".join([*breaches, f"seed {seed}: {'BREACHES' if breaches else 'passed'} in {time.monotonic() - started:.1f} s"]), flush=True)
        if breaches:
            broken[seed] = breaches
    said = "\n".join(f"seed {seed}:\n" + "\n".join(breaches) for seed, breaches in broken.items())
    expect(not broken, f"breaches; {said}")  # as the last words: the logs come before


def main(name, make):
    seeds = [int(word) for word in sys.argv[1:]] or [1]
    harness.main(name, lambda run: scenario(run, seeds, make), own_kafka=True, nodes=3, broker=BROKER_SETTINGS)


if __name__ == "__main__":
    main("faults", Trial)
