"""A small run in virtual time that is right: two partitions, three members, of which one is killed and one is stopped past its
session. The tests of the judge change one thing of it at a time. `protocol`: who distributes the partitions; under "consumer" the
coordinator notes each change of a member, so a partition is nobody's for a while."""
from facts import Acknowledged, Commit, Facts, Fault, Generation, Life, Request

TOPIC = "orders"
PARTITIONS = [(TOPIC, 0), (TOPIC, 1)]
RECORDS = 600  # of each partition, one each 100 ms
SLOW = 55  # has a key of its own, and is refused at first
SECOND = 1_000_000_000


def ns(seconds):
    return int(seconds * 1000) * 1_000_000


def key_of(offset):
    return "slow" if offset == SLOW else f"key-{offset % 3}"


class World:
    """Members a, b, c. a is killed at 10 s, b is stopped from 30 s to 40 s and comes again; the brokers are out at 2 s."""

    def __init__(self, protocol="range"):
        self.protocol = protocol
        self.facts = Facts(begun=0, finished=ns(62))
        self.facts.lives = {"a": Life(0, killed=ns(10.05)), "b": Life(0, stops=[(ns(30.05), ns(40))]), "c": Life(ns(20))}
        self.facts.faults = [Fault("kill broker", "2", ns(2), ns(4)), Fault("kill member", "a", ns(10.05), ns(10.05)),
                             Fault("stop member", "b", ns(30.05), ns(40))]
        self.pending = []  # (ms, kind, …), which get their positions in the order of time
        if protocol == "consumer":
            self.changes()
        else:
            self.generations()
        self.orders()
        self.own(PARTITIONS[0], [("a", 0, 10.05), ("b", 16.01, 30.05), ("c", 36.01, 41.5), ("b", 42.01, 61)])
        self.own(PARTITIONS[1], [("b", 0, 15.5), ("b", 16.01, 19.5), ("c", 20.01, 35.5), ("c", 36.01, 41.5), ("c", 42.01, 61)])
        # What b had sent when it was stopped, it sends when it goes on.
        self.request("b", PARTITIONS[0], 301, 1, 40.01, 40.02, 204)
        for position, (_, make) in enumerate(sorted(self.pending, key=lambda entry: entry[0])):
            make(position)

    def generations(self):
        self.generation(0, 1, {"a1": "a", "b1": "b"}, ["a1", "b1"])
        self.generation(16, 2, {"b1": "b"}, ["b1", "b1"])
        self.generation(20, 3, {"b1": "b", "c1": "c"}, ["b1", "c1"])
        self.generation(36, 4, {"c1": "c"}, ["c1", "c1"])
        self.generation(42, 5, {"b2": "b", "c1": "c"}, ["b2", "c1"])

    def changes(self):
        """The same with one member at a time; at 25 s all go on to another epoch, and nothing else changes."""
        self.generation(0, 1, {"a1": "a"}, ["a1", None])
        self.generation(0, 2, {"a1": "a", "b1": "b"}, ["a1", "b1"])
        self.generation(15.9, 2, {"b1": "b"}, [None, "b1"])
        self.generation(16, 3, {"b1": "b"}, ["b1", "b1"])
        self.generation(19.1, 4, {"b1": "b", "c1": "c"}, ["b1", "b1"])
        self.generation(19.9, 4, {"b1": "b", "c1": "c"}, ["b1", None])
        self.generation(20, 4, {"b1": "b", "c1": "c"}, ["b1", "c1"])
        self.generation(25, 5, {"b1": "b", "c1": "c"}, ["b1", "c1"])
        self.generation(35.9, 5, {"c1": "c"}, [None, "c1"])
        self.generation(36, 6, {"c1": "c"}, ["c1", "c1"])
        self.generation(40.5, 7, {"b1": "b", "c1": "c"}, ["c1", "c1"])
        self.generation(41.9, 7, {"b1": "b", "c1": "c"}, [None, "c1"])
        self.generation(42, 7, {"b1": "b", "c1": "c"}, ["b1", "c1"])

    def generation(self, time, number, members, owners):
        time = int(time * 1000)
        owners = {partition: owner for partition, owner in zip(PARTITIONS, owners) if owner}
        self.pending.append((time, lambda position: self.facts.generations.append(
            Generation(position, time, number, members, owners, self.protocol))))

    def orders(self):
        for partition in PARTITIONS:
            self.facts.log[partition] = set(range(RECORDS))
            self.facts.ends[partition] = RECORDS
            for offset in range(RECORDS):
                self.facts.acknowledged.append(Acknowledged(partition, offset, offset, ns(offset / 10)))

    def request(self, member, partition, offset, attempt, begun, ended, status):
        self.facts.requests.append(
            Request(member, partition, offset, key_of(offset), offset, attempt, ns(begun), ns(ended), status))

    def own(self, partition, times):
        committed, runs = 0, ()
        for member, begun, ended in times:
            clean = not any((member, ended) == end for end in (("a", 10.05), ("b", 30.05)))
            committed, runs = self.work(member, partition, begun, ended, clean, committed, runs)

    def work(self, member, partition, begun, ended, clean, committed, runs):
        """One ownership, from what is committed; returns what it has committed."""
        done = set(range(committed)) | {offset for begin, end in runs for offset in range(begin, end)}
        now, next_commit, refused = begun, begun + 1, None
        todo = [offset for offset in range(committed, RECORDS) if offset not in done]
        while now < ended:
            if now >= next_commit:
                committed, runs = self.commit(partition, now, done)
                next_commit = now + 1
            if refused is not None and now > refused + 0.6:
                self.request(member, partition, SLOW, 2, now, now + 0.01, 204)
                done.add(SLOW)
                refused = None
            elif todo and todo[0] / 10 + 0.001 < now:
                offset = todo.pop(0)
                refuse = offset == SLOW
                self.request(member, partition, offset, 1, now, now + 0.01, 503 if refuse else 204)
                if refuse:
                    refused = now
                else:
                    done.add(offset)
            now = round(now + 0.02, 3)
        return self.commit(partition, ended + 0.1, done) if clean else (committed, runs)

    def commit(self, partition, now, done):
        watermark = next(offset for offset in range(RECORDS + 1) if offset not in done)
        above = sorted(offset for offset in done if offset > watermark)
        runs = ((above[0], above[-1] + 1),) if above else ()
        time = int(now * 1000)
        self.pending.append((time, lambda position: self.facts.commits.append(
            Commit(position, time, partition, watermark, runs))))
        return watermark, runs
