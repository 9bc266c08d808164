"""Carries out the faults of a random story."""
import json
import re
import signal
import subprocess
import threading
import time

import drawn
from anew import Anew
from corrupt import corrupt
from harness import LANEWAY, Failed, inherited_environment, merged, wait_until
from rights import Rights

NEW_RATE = 5  # records a second, to a partition that is added
LETTERS_RATE = 20  # a second


class Acts:
    """A method for each kind of fault; each returns what the fault was about. Several threads at once."""

    def __init__(self, run, story, members, downstream, write):
        self.anew, self.rights = Anew(run), Rights(run)
        self.run, self.story, self.members, self.downstream, self.write = run, story, members, downstream, write
        self.partitions = story.partitions
        self.corrupt_batches = []  # (topic, partition, first offset, last offset)
        self.orders = threading.Lock()  # to the downstream
        self.member_lock = threading.Lock()
        self.topic_lock = threading.Lock()

    def act(self, fault):
        if fault.kind in drawn.DOWNSTREAM:
            return self.outage(fault)
        of_member = {"kill member": self.members.kill, "stop member": self.members.stop, "join": self.members.join_more,
                     "terminate member": self.members.terminate}.get(fault.kind)
        if of_member:
            with self.member_lock:
                if not self.members.running():
                    return "nobody"
                return " ".join(of_member(fault.choice, fault.lasts))
        return {"one out": self.one_out, "add partitions": self.add_partitions, "reload": self.reload, "suspend": self.suspend, "skip": self.skip,
                "redrive": self.redrive, "retention": self.retention, "recreate topic": self.recreate,
                "take rights": self.take_rights, "corrupt batch": self.corrupt,
                "retention in a drain": self.retention_in_a_drain,
                "certificate in a drain": self.certificate_in_a_drain}[fault.kind](fault)

    def one_out(self, fault):
        """The web service refuses the records of one pool, or of some keys of a pool, for long enough that they are parked."""
        with self.orders:
            self.downstream.become("503", only=drawn.ANOTHER if self.story.each else drawn.ONE)
            time.sleep(self.story.park_after + fault.lasts)
            self.downstream.become("work")
        return ""

    def outage(self, fault):
        with self.orders:
            self.downstream.become(fault.kind)
            time.sleep(fault.lasts)
            self.downstream.become("work")
        return ""

    def add_partitions(self, _):
        with self.topic_lock:
            self.partitions += 1
            self.run.tool("add-partitions", self.run.topic, self.partitions)
            self.write([self.partitions - 1], "--rate", str(NEW_RATE))
        return f"now {self.partitions}"

    def reload(self, fault):
        """By SIGHUP, of all members."""
        changes = {"lanes": {"workers": 1 + fault.choice % 12, "queue": fault.choice % 100}, "commit": {"interval": "300ms"}}
        if self.story.pools:
            changes = {"commit": {"interval": "300ms"}}
        with self.member_lock:
            for name in self.members.running():
                service = self.members.services[name]
                service.file.write_text(json.dumps(merged(service.settings, changes), indent=1))
                service.signal(signal.SIGHUP)
        return ""

    def laneway(self, service, *arguments):
        """The output of a command of an operator; None if the service was not there to answer, or refused."""
        done = subprocess.run([LANEWAY, *arguments, "--admin", service.url().removeprefix("http://")], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, env=inherited_environment())
        return done.stdout if done.returncode == 0 else None

    def lanes(self):
        """[(service, lane)] as the running members say."""
        found = []
        for name in self.members.running():
            service = self.members.services[name]
            try:
                found += [(service, lane) for lane in json.loads(service.get("/status"))["lanes"]]
            except (OSError, Failed, ValueError):
                continue  # it has just ended, or is stopped
        return found

    def suspend(self, fault):
        lanes = [(service, lane) for service, lane in self.lanes() if lane["topic"] != self.anew.topic]
        if not lanes:
            return "nothing"
        service, lane = lanes[fault.choice % len(lanes)]
        place = f"{lane['topic']}:{lane['partition']}"
        self.laneway(service, "suspend", place)
        time.sleep(fault.lasts)
        with self.member_lock:
            for name in self.members.running():
                self.laneway(self.members.services[name], "resume", lane["topic"])
        return place

    def skip(self, _):
        for service, lane in self.lanes():
            oldest = lane.get("oldest") or {}
            if oldest.get("error"):
                place = f"{lane['topic']}:{lane['partition']}:{oldest['offset']}"
                if self.laneway(service, "skip", place) is not None:
                    return place
        return "nothing"

    def redrive(self, _):
        """Few at a time: letters that fail again, one after the other, are an outage to the breaker."""
        file = next(iter(self.members.services.values())).file
        command = [LANEWAY, "dlq", "redrive", "-c", str(file), "--yes", "--present-time", "--rate", str(LETTERS_RATE)]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                              env=inherited_environment())
        return (done.stdout.strip().splitlines() or [""])[-1]

    def retention(self, fault):
        """Deletes half of what is committed in a partition, and whatever else lies below that."""
        partition = fault.choice % self.story.partitions
        upto = (self.run.committed().get((self.run.topic, partition)) or 0) // 2
        if upto:
            self.run.tool("delete-records", self.run.topic, partition, upto)
        return f"{partition} below {upto}"

    def in_a_drain(self, fault, then):
        """A member is terminated while the web service does not answer; `then` is called with one of its lanes while it drains."""
        with self.member_lock, self.orders:
            lanes = [(service, lane) for service, lane in self.lanes() if lane["topic"] == self.run.topic]
            if not lanes:
                return "nothing"
            service, lane = lanes[fault.choice % len(lanes)]
            self.downstream.become("hang")
            time.sleep(fault.lasts / 5)  # records pile up
            return " ".join(self.members.terminate(self.members.running().index(service.name), 0, lambda: then(lane)))

    def retention_in_a_drain(self, fault):
        """Deletes records that wait: all that there are, or half of them. None of a partition of which nothing is committed: who
        gets it next cannot know that there were any."""
        told = []

        def delete(lane):
            partition = (self.run.topic, lane["partition"])
            committed, (_, end) = self.run.committed().get(partition), self.run.watermarks()[partition]
            upto = 0 if committed is None else end - (end - committed) // 2 * (fault.choice % 2)
            if upto:
                self.run.tool("delete-records", *partition, upto)
            told.append(f"{lane['partition']} from {committed} to {upto}")
            self.downstream.become("work")

        return f"{self.in_a_drain(fault, delete)} {' '.join(told)}"

    def certificate_in_a_drain(self, fault):
        """The web service has a new certificate from then on, until the next outage, and all connections begin anew."""
        return self.in_a_drain(fault, lambda _: self.downstream.become("renewed"))

    def take_rights(self, fault):
        """Who began meanwhile has ended, and is started again."""
        what = self.rights.take(fault)
        with self.member_lock:
            while len(self.members.running()) < self.story.members:
                self.members.join()
        return what

    def recreate(self, fault):
        with self.topic_lock:
            return self.anew.recreate(fault, lambda: [lane for _, lane in self.lanes()])

    def corrupt(self, fault):
        """A member is killed, and what is written to a partition of its own before another member has that cannot be read."""
        found = []

        def damage():
            (_, end) = self.run.watermarks()[self.run.topic, partition]
            (first, last) = wait_until("a batch is corrupt", lambda: corrupt(self.run, partition, end), every=0.01)
            found.append((self.run.topic, partition, first, last))

        with self.member_lock:
            written = {partition for partition, (_, end) in self.run.watermarks().items() if end > 0}
            lanes = [(service, lane) for service, lane in self.lanes() if (lane["topic"], lane["partition"]) in written]
            if not lanes:
                return "nothing"
            service, lane = lanes[fault.choice % len(lanes)]
            partition = lane["partition"]
            names = self.members.kill(self.members.running().index(service.name), fault.lasts, damage)
        self.corrupt_batches += found
        return f"{' '.join(names)} {found}"

    def pass_over_corrupt(self):
        """As an operator does when a lane names such a batch."""
        for service, lane in self.lanes() if self.corrupt_batches else ():
            named = re.search(r"at offset (\d+) is corrupt", lane.get("source_error", ""))
            for topic, partition, first, last in self.corrupt_batches if named else ():
                if (topic, partition) == (lane["topic"], lane["partition"]) and first <= int(named[1]) <= last:
                    self.laneway(service, "skip", f"{topic}:{partition}:{last}", "--reason", "disk")
