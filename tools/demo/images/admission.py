"""The front's bound: how many images are accepted and not finished, and what is answered to one more.

An image takes a place from its request until its record is below the group's committed offset. So the bound holds for all stages
together, and for whatever waits in Kafka; a restarted front finds it again. Pure: no threads, no clock, no Kafka. Times are in
seconds of any steady clock.
"""
import math
from collections import deque
from enum import Enum

MEMORY = 10.0  # s over which the rate of finished images is measured
LONGEST_WAIT = 10  # s that a client is asked to stay away at most


class Answer(Enum):
    ACCEPTED = 202
    FULL = 429
    STOPPING = 503


class Admission:
    """`capacity`: the most images that are accepted and unfinished."""

    def __init__(self, capacity):
        self.capacity, self.stopping = capacity, False
        self.under_way = 0  # images whose records Kafka has not acknowledged
        self.ends, self.committed = {}, {}  # {partition: offset}
        self.finished = deque()  # (time, sum of the committed offsets)

    def depth(self):
        """Images that are accepted and not finished."""
        return self.under_way + sum(max(0, end - self.committed.get(partition, 0)) for partition, end in self.ends.items())

    def ask(self):
        """The answer to one more image, which has its place if it is accepted: then sent() or failed() follows."""
        if self.stopping:
            return Answer.STOPPING
        if self.depth() >= self.capacity:
            return Answer.FULL
        self.under_way += 1
        return Answer.ACCEPTED

    def sent(self, partition, offset):
        """Kafka has acknowledged the record."""
        self.ends[partition] = max(self.ends.get(partition, 0), offset + 1)
        self.under_way -= 1

    def failed(self):
        """The record is not in Kafka, or nobody knows."""
        self.under_way -= 1

    def look(self, committed, now, ends=()):
        """What Kafka says. `ends`: {partition: next offset} at the start, before any image is under way: a record that Kafka has and
        has not acknowledged yet would count twice."""
        self.ends.update(ends)
        self.committed.update(committed)
        self.finished.append((now, sum(self.committed.values())))
        while self.finished[0][0] < now - MEMORY:
            self.finished.popleft()

    def retry_after(self):
        """Whole seconds until a quarter of the places is free, at the rate of the last seconds."""
        (since, before), (now, after) = (self.finished[0], self.finished[-1]) if self.finished else ((0, 0), (0, 0))
        if after <= before:
            return 1 if now - since < 1 else LONGEST_WAIT
        return min(LONGEST_WAIT, max(1, math.ceil(self.capacity / 4 / ((after - before) / (now - since)))))
