"""A small consumer service in virtual time, right or with one planted bug: what it writes, the oracle must judge.

Two processes take turns: the first works, loses its partitions (orderly, or killed), the second goes on to the end.
"""
import json
import random
from collections import defaultdict

MS = 1_000_000
TOPIC = "orders"
PARTITIONS = 3
RECORDS = 400
HAND_OVER = 900 * MS  # the first process's partitions are revoked then
BUGS = ["commit the highest polled offset", "clamp backwards delivery", "skip the rejected record", "commit after revoke",
        "start after revoke", "process one twice", "break key order", "overlap a retry", "lose one", "run aborted data",
        "leave the last uncommitted", "redeliver all"]


class World:
    """One run. journals: {process: lines}, log and commits as kafka_tool prints them."""

    def __init__(self, bug=None, order="none", killed=False, seed=1):
        self.bug, self.order, self.killed = bug, order, killed
        self.random = random.Random(seed)
        self.journals = {"first": [], "second": []}
        self.success = defaultdict(dict)  # partition -> {offset: end}
        self.highest_start = defaultdict(list)  # partition -> [(start, offset)]
        # A transaction marker after every tenth record: offsets have gaps, and the log ends with one.
        self.offsets = [offset for offset in range(RECORDS + RECORDS // 10) if offset % 11 != 10]
        self.end = RECORDS + RECORDS // 10
        self.commit_times = [time * MS for time in range(100, 900, 100)]
        self.finish = 0
        for partition in range(PARTITIONS):
            self.first_process(partition)
            self.second_process(partition)

    def key(self, offset):
        return None if offset % 7 == 0 else f"k{offset % 5}"

    def line(self, offset):
        """What must run one after another, by the mode of order."""
        if self.order == "partition":
            return "all"
        return (self.key(offset) or f"none-{offset}") if self.order == "key" else f"record-{offset}"

    def attempt(self, process, partition, offset, number, start, end, outcome):
        epoch = 1 if process == "first" else 4
        self.journals[process].append(json.dumps(
            {"topic": TOPIC, "partition": partition, "offset": offset, "epoch": epoch, "attempt": number,
             "start": start, "end": end, "outcome": outcome, "key": self.key(offset)}) + "\n")
        self.highest_start[partition].append((start, offset))
        if outcome == "success":
            self.success[partition].setdefault(offset, end)

    def record(self, process, partition, offset, start, stop):
        """All attempts of a record; None when it had not succeeded by `stop`. Else its end."""
        fails = 1 if offset % 13 == 5 else 0
        for number in range(1, fails + 2):
            if start >= stop:
                return None
            end = start + self.random.randrange(1, 30) * MS
            if end > stop and self.killed and process == "first":
                return None
            outcome = "retry" if number <= fails else "success"
            if self.bug == "skip the rejected record" and offset == 55 and partition == 1:
                self.attempt(process, partition, offset, number, start, end, "rejected_record")
                return end
            self.attempt(process, partition, offset, number, start, end, outcome)
            overlap = self.bug == "overlap a retry" and outcome == "retry"
            start = end - MS // 2 if overlap else end + (0 if outcome == "success" else 5 * MS)
        return end

    def work(self, process, partition, offsets, start, stop):
        workers = [start] * 4
        lines = defaultdict(lambda: start)
        for offset in offsets:
            if self.bug == "lose one" and (partition, offset) == (2, 77):
                continue
            worker = workers.index(min(workers))
            line = self.line(offset)
            begin = max(workers[worker], start if self.bug == "break key order" else lines[line])
            end = self.record(process, partition, offset, begin, stop)
            if end is None:
                workers[worker] = max(workers[worker], stop)
                lines[line] = max(lines[line], stop)
                continue
            workers[worker] = lines[line] = end
        return max(workers)

    def first_process(self, partition):
        self.work("first", partition, self.offsets, 0, HAND_OVER)
        if self.bug == "start after revoke" and partition == 0:
            offset = next(offset for offset in self.offsets if offset not in self.success[0])
            self.attempt("first", 0, offset, 1, HAND_OVER + 200 * MS, HAND_OVER + 201 * MS, "timeout")

    def second_process(self, partition):
        done = self.success[partition]
        taken = max(offset for _, offset in self.highest_start[partition])
        redone = set(done)
        if self.killed:  # what was answered after the last commit comes again
            redone = {offset for offset, end in done.items() if end <= self.commit_times[-1]}
        if self.bug == "redeliver all":
            redone = set()
        left = [offset for offset in self.offsets if offset not in redone]
        if self.bug == "clamp backwards delivery":
            left = [offset for offset in left if offset > taken]
        if self.bug == "process one twice" and partition == 0:
            left[20:20] = [left[10]]
        if self.bug == "run aborted data":
            left[5:5] = [120]  # a marker's or aborted record's offset
        self.finish = max(self.finish, self.work("second", partition, left, HAND_OVER + 50 * MS, 10**12))

    def log(self):
        lines = [{"topic": TOPIC, "partition": partition, "offset": offset, "key": self.key(offset)}
                 for partition in range(PARTITIONS) for offset in self.offsets]
        lines += [{"topic": TOPIC, "partition": partition, "low": 0, "end": self.end} for partition in range(PARTITIONS)]
        return [json.dumps(line) for line in lines]

    def committed(self, partition, time):
        if self.bug == "commit the highest polled offset":
            return max((offset + 1 for start, offset in self.highest_start[partition] if start < time), default=None)
        if self.bug == "commit after revoke" and self.commit_times[-1] < time < self.finish:
            return self.committed(partition, self.commit_times[3])
        answered = self.success[partition]
        skipped = {55} if self.bug == "skip the rejected record" and partition == 1 else set()
        if self.bug in ("clamp backwards delivery", "lose one") and time >= self.finish:
            return self.end
        waiting = [offset for offset in self.offsets if answered.get(offset, time + 1) > time and offset not in skipped]
        if not waiting:
            return self.end - (1 if self.bug == "leave the last uncommitted" else 0)
        return waiting[0] if waiting[0] > 0 else None

    def commits(self):
        """[(time, lines)]"""
        times = self.commit_times + [HAND_OVER + 400 * MS, self.finish + MS]
        return [(time, [json.dumps({"topic": TOPIC, "partition": partition, "offset": self.committed(partition, time),
                                    "metadata": None}) for partition in range(PARTITIONS)]) for time in times]
