"""A topic that members read besides, and that is deleted and made anew while they do."""
import signal
import subprocess
import time

from gathering import acknowledged_in, copies_in, number_of
from harness import KAFKA_TOOL, die_with_parent, expect, wait_until

PARTITIONS, KEYS = 2, 40
KNOWN = 60.0  # s for all members to learn that the topic is gone
SOME = 20  # records
BEFORE, AFTER = 20, (20, 300)  # records a second; the new one may soon be longer than the old one was


class Anew:
    """The numbers of the records begin with the number of the topic: the first one has 1, the next one 2."""

    def __init__(self, run):
        self.run, self.topic, self.made, self.writer = run, run.topic + "-anew", 0, None

    @property
    def acks(self):
        return self.run.folder / f"{self.topic}-{self.made}.acks"

    def number(self, number):
        return int(f"{self.made}000000{number}")

    def create(self, rate=BEFORE):
        self.made += 1
        self.acks.touch()
        self.run.create(PARTITIONS, topic=self.topic)
        command = [KAFKA_TOOL, "--bootstrap", self.run.admin_bootstrap, "produce", self.topic, "--keys", str(KEYS), "--rate", str(rate),
                   "--value", f"{self.made}000000{{}}.", "--acks-file", self.acks]
        with open(self.acks.with_suffix(".writer"), "wb") as log:
            self.writer = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=die_with_parent)
        wait_until(f"{self.topic} has records", lambda: sum(end for _, end in self.run.watermarks([self.topic]).values()) > SOME)

    def finish_writing(self):
        if self.writer and self.writer.poll() is None:
            self.writer.send_signal(signal.SIGTERM)
            expect(self.writer.wait(60) == 0, f"the writer of {self.topic} ended with {self.writer.returncode}")

    def recreate(self, fault, lanes):
        """`lanes`: those that the members have at present. Offsets are committed by the names of topics: that all members know that
        the old one is gone is what docs/consumer-protocol.md asks for."""
        self.finish_writing()
        self.run.tool("delete", self.topic)
        wait_until(f"no member reads {self.topic}", lambda: all(
            "does not exist" in lane.get("source_error", "") for lane in lanes() if lane["topic"] == self.topic), KNOWN)
        time.sleep(fault.lasts)
        self.create(AFTER[fault.choice % len(AFTER)])
        return f"now number {self.made}"

    def tell(self, facts):
        """Into the facts: what was written to the topic that is there at the end, and what became of it."""
        facts.anew = [record._replace(number=self.number(record.number)) for record in acknowledged_in(self.acks)]
        for copy in copies_in(self.run, self.topic + "-dlt"):
            facts.letter_numbers[copy.place] = number_of(copy.record)
