"""A small consumer service in virtual time, correct or with one planted bug; the oracle must judge its evidence.

Two processes take turns: the first works, loses its partitions (orderly, or killed), the second goes on to the end. In
between the downstream is out for a while. Some records are given up and become dead letters; without order some go on in a
retry topic, and some are parked there, once or twice, also as the sub-job of a record whose other sub-job was done.
"""
import json
import random
from collections import defaultdict

MS = 1_000_000
TOPIC, RETRY, LETTERS = "orders", "orders-retry-50ms", "orders-dlt"
PARTITIONS = 3
RECORDS = 400
OUTAGE = (300 * MS, 400 * MS)
HAND_OVER = 900 * MS  # the first process's partitions are revoked then
RETRY_DELAY = 50 * MS
BUGS = ["commit the highest polled offset", "clamp backwards delivery", "skip the rejected record", "commit after revoke",
        "start after revoke", "process one twice", "break key order", "overlap a retry", "lose one", "run aborted data",
        "leave the last uncommitted", "redeliver all", "complete before acknowledged", "complete what was not written",
        "change a dead letter", "write a dead letter with its old timestamp", "attempt lost on restart",
        "count the outage as attempts", "breaker that commits", "park without an acknowledged write",
        "complete what was not parked", "park a sub-job and run it, too", "write a parked record twice", "use up attempts while parked",
        "finish a record whose sub-job waits", "park although records keep an order"]


class World:
    """One run. journals: {process: lines}; log, commits and read as kafka_tool prints them."""

    def __init__(self, bug=None, order="none", killed=False, seed=1):
        self.bug, self.order, self.killed = bug, order, killed
        self.random = random.Random(seed)
        self.journals = {"first": [], "second": []}
        self.complete = defaultdict(dict)  # place -> {offset: when it was counted complete}
        self.highest_start = defaultdict(list)  # place -> [(start, offset)]
        self.copies = defaultdict(list)  # place in another topic -> [(origin's offset, attempts so far, when, sub-job)]
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
        """The records that must run one after another, by the mode of order."""
        if self.order == "partition":
            return "all"
        return (self.key(offset) or f"none-{offset}") if self.order == "key" else f"record-{offset}"

    def origin(self, place, offset):
        """The offset in the topic where the record began."""
        return self.copies[place][offset][0] if place[0] == RETRY else offset

    def is_parked(self, offset):
        return offset % 41 == 17 and (self.order == "none" or self.bug == "park although records keep an order")

    def is_split(self, offset):
        return offset % 43 == 19 and self.order == "none"

    def outcomes(self, place, offset):
        """The outcomes of a record, attempt by attempt."""
        if place[0] == RETRY:
            origin = self.origin(place, offset)
            times = sum(copy[0] == origin for copy in self.copies[place][:offset])
            again = self.order == "none" and self.is_parked(origin) and times < origin % 2
            return ["parked"] if again else ["retry", "success"]
        if self.is_parked(offset):
            return ["parked"]
        if offset % 31 == 9:
            return ["rejected_record", "dead_letter"]
        if offset % 37 == 11 and self.order == "none":
            return ["retry", "retry", "retry_topic"]
        return ["retry", "success"] if offset % 13 == 5 else ["success"]

    def attempt(self, process, place, offset, number, start, end, outcome, part=None):
        epoch = 1 if process == "first" else 4
        part = self.copies[place][offset][3] if place[0] == RETRY else part
        self.journals[process].append(json.dumps(
            {"topic": place[0], "partition": place[1], "offset": offset, "epoch": epoch, "attempt": number,
             "start": start, "end": end, "outcome": outcome, "key": self.key(self.origin(place, offset)),
             **({"part": part} if part else {})}) + "\n")
        self.highest_start[place].append((start, offset))
        if outcome in ("success", "dead_letter", "retry_topic", "parked"):
            self.complete[place].setdefault(offset, end)
        target = {"dead_letter": LETTERS, "retry_topic": RETRY, "parked": RETRY}.get(outcome)
        lost = {"complete before acknowledged": (40, "dead_letter"), "park without an acknowledged write": (140, "parked")}
        if target and not (lost.get(self.bug) == (offset, outcome) and place == (TOPIC, 1)):
            number += self.bug == "use up attempts while parked" and outcome == "parked"
            self.copies[target, place[1]].append((self.origin(place, offset), number, end, part))

    def broken(self, process, place, offset, number, start, end, outcome):
        """Whether a bug takes the place of what should happen now."""
        wrong = None
        if self.bug == "skip the rejected record" and (place, offset) == ((TOPIC, 1), 55):
            wrong = "rejected_record"
        elif self.bug == "complete what was not written" and outcome == "dead_letter":
            wrong = "dead_letter_failed"
        elif self.bug == "complete what was not parked" and outcome == "parked":
            wrong = "parked_failed"
        if wrong:
            self.attempt(process, place, offset, number, start, end, wrong)
            self.complete[place][offset] = end
        return wrong is not None

    def split(self, process, place, offset, start, stop):
        """Two sub-jobs, of which one is done and the other one is parked; None when they had not been through by `stop`."""
        if OUTAGE[0] <= start < OUTAGE[1]:
            start = OUTAGE[1]
        done, parked = start + 3 * MS, start + 10 * MS
        if parked > stop:
            return None
        self.attempt(process, place, offset, 1, start, done, "success", "a")
        if self.bug == "finish a record whose sub-job waits":
            self.attempt(process, place, offset, 1, start, parked, "unavailable", "b")
            return parked
        self.attempt(process, place, offset, 0, done, parked, "parked", "b")
        if self.bug == "park a sub-job and run it, too":
            self.attempt(process, place, offset, 1, parked, parked + MS, "success", "b")
        self.complete[place][offset] = parked
        return parked

    def record(self, process, place, offset, start, stop):
        """All attempts of a record; None when it had not been through by `stop`. Else its end."""
        if place[0] == TOPIC and self.is_split(offset):
            return self.split(process, place, offset, start, stop)
        number = 1
        if place[0] == RETRY and not (self.bug == "attempt lost on restart" and process == "second"):
            number += self.copies[place][offset][1]
        for outcome in self.outcomes(place, offset):
            if OUTAGE[0] <= start < OUTAGE[1]:
                number += self.unavailable(process, place, offset, number, start)
                if self.bug == "breaker that commits":
                    self.complete[place][offset] = start + MS
                    return start + MS
                start = OUTAGE[1]
            if start >= stop:
                return None
            end = start + self.random.randrange(1, 30) * MS
            if end > stop and self.killed and process == "first":
                return None
            forwarded = outcome in ("dead_letter", "retry_topic", "parked")
            number -= 1 if forwarded else 0
            if self.broken(process, place, offset, number, start, end, outcome):
                return end
            self.attempt(process, place, offset, number, start, end, outcome)
            number += 1
            overlap = self.bug == "overlap a retry" and outcome == "retry"
            start = end - MS // 2 if overlap else end + (5 * MS if outcome == "retry" else 0)
        return end

    def unavailable(self, process, place, offset, number, start):
        """Every second record is tried, the others are withheld; neither has used up an attempt. Yields how many did."""
        if offset % 2 == 0:
            self.attempt(process, place, offset, number, start, start + MS, "unavailable")
        return 1 if self.bug == "count the outage as attempts" and offset % 2 == 0 else 0

    def work(self, process, place, offsets, start, stop):
        workers = [start] * 4
        lines = defaultdict(lambda: start)
        for offset in offsets:
            if self.bug == "lose one" and (place, offset) == ((TOPIC, 2), 77):
                continue
            worker = workers.index(min(workers))
            line = self.line(self.origin(place, offset))
            begin = max(workers[worker], start if self.bug == "break key order" else lines[line])
            if place[0] == RETRY:
                begin = max(begin, self.copies[place][offset][2] + RETRY_DELAY)
            end = self.record(process, place, offset, begin, stop)
            if end is None:
                workers[worker] = max(workers[worker], stop)
                lines[line] = max(lines[line], stop)
                continue
            workers[worker] = lines[line] = end
        return max(workers)

    def first_process(self, partition):
        place, retry = (TOPIC, partition), (RETRY, partition)
        self.work("first", place, self.offsets, 0, HAND_OVER)
        self.work("first", retry, range(len(self.copies[retry])), 0, HAND_OVER)
        if self.bug == "start after revoke" and partition == 0:
            offset = next(offset for offset in self.offsets if offset not in self.complete[place])
            self.attempt("first", place, offset, 1, HAND_OVER + 200 * MS, HAND_OVER + 201 * MS, "timeout")

    def left(self, place, offsets):
        """The records that the second process receives."""
        if self.bug == "redeliver all":
            return list(offsets)
        # Records that were answered after the last commit come again after a kill.
        known = self.commit_times[-1] if self.killed else HAND_OVER * 2
        return [offset for offset in offsets if self.complete[place].get(offset, known + 1) > known]

    def second_process(self, partition):
        place, retry = (TOPIC, partition), (RETRY, partition)
        left = self.left(place, self.offsets)
        if self.bug == "clamp backwards delivery":
            taken = max(offset for _, offset in self.highest_start[place])
            left = [offset for offset in left if offset > taken]
        if self.bug == "process one twice" and partition == 0:
            left[20:20] = [left[10]]
        if self.bug == "run aborted data":
            left[5:5] = [120]  # a marker's or aborted record's offset
        begin, never = HAND_OVER + 50 * MS, 10**12
        self.finish = max(self.finish, self.work("second", place, left, begin, never))
        if self.bug == "write a parked record twice":
            parked = next(copy for copy in self.copies[retry] if self.is_parked(copy[0]))
            self.copies[retry].append(parked)
        todo, seen = self.left(retry, range(len(self.copies[retry]))), len(self.copies[retry])
        while todo:  # what is parked again is there once more
            self.finish = max(self.finish, self.work("second", retry, todo, begin, never))
            todo, seen = range(seen, len(self.copies[retry])), len(self.copies[retry])

    def log(self):
        lines = [{"topic": TOPIC, "partition": partition, "offset": offset, "key": self.key(offset)}
                 for partition in range(PARTITIONS) for offset in self.offsets]
        lines += [{"topic": TOPIC, "partition": partition, "low": 0, "end": self.end} for partition in range(PARTITIONS)]
        for partition in range(PARTITIONS):
            copies = self.copies[RETRY, partition]
            lines += [{"topic": RETRY, "partition": partition, "offset": offset, "key": self.key(copy[0])}
                      for offset, copy in enumerate(copies)]
            lines.append({"topic": RETRY, "partition": partition, "low": 0, "end": len(copies)})
        return [json.dumps(line) for line in lines]

    def content(self, partition, offset, origin, headers, timestamp=None):
        """A record as kafka_tool read prints it."""
        key = self.key(origin)
        own = [["number", str(origin)]] + headers
        return json.dumps({"partition": partition, "offset": offset, "timestamp": timestamp or 1000 + origin,
                           "key": None if key is None else key.encode().hex(), "value": f"value {origin}".encode().hex(),
                           "headers": [[name, value.encode().hex()] for name, value in own]})

    def read(self, topic):
        """Every record of the topic, with all that it bears."""
        if topic == TOPIC:
            return [self.content(partition, offset, offset, []) for partition in range(PARTITIONS) for offset in self.offsets]
        lines = []
        for partition in range(PARTITIONS):
            for offset, (origin, attempts, when, part) in enumerate(self.copies[topic, partition]):
                kind, number = ("laneway-retry-", "laneway-retry-attempts") if topic == RETRY else (
                    "__connect.errors.", "laneway-attempts")
                headers = [[kind + "topic", TOPIC], [kind + "partition", str(partition)], [kind + "offset", str(origin)],
                           [number, str(attempts)], ["laneway-original-timestamp", str(1000 + origin)]]
                headers[:0] = [["laneway-part", part]] if part else []
                timestamp = when // MS
                if self.bug == "change a dead letter" and topic == LETTERS:
                    headers[-1][1] = "1"
                if self.bug == "write a dead letter with its old timestamp" and topic == LETTERS:
                    timestamp = -1
                lines.append(self.content(partition, offset, origin, headers, timestamp))
        return lines

    def committed(self, place, time):
        end, offsets = self.end, self.offsets
        if place[0] == RETRY:
            copies = self.copies[place]
            end = next((offset for offset, copy in enumerate(copies) if copy[2] > time), len(copies))
            offsets = range(end)
        if self.bug == "commit the highest polled offset":
            return max((offset + 1 for start, offset in self.highest_start[place] if start < time), default=None)
        if self.bug == "commit after revoke" and self.commit_times[-1] < time < self.finish:
            return self.committed(place, self.commit_times[3])
        if self.bug in ("clamp backwards delivery", "lose one") and time >= self.finish:
            return end
        answered = self.complete[place]
        waiting = [offset for offset in offsets if answered.get(offset, time + 1) > time]
        if not waiting:
            return end - (1 if self.bug == "leave the last uncommitted" else 0) if end else None
        return waiting[0] or None

    def commits(self):
        """[(time, lines)]"""
        times = self.commit_times + [HAND_OVER + 400 * MS, self.finish + MS]
        return [(time, [json.dumps({"topic": topic, "partition": partition, "offset": self.committed((topic, partition), time),
                                    "metadata": None}) for topic in (TOPIC, RETRY) for partition in range(PARTITIONS)])
                for time in times]
