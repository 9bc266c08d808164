#!/usr/bin/python3
"""The same faults under handler.produce.transactional: transactions.py [SEED ...]

The members copy the topic to another one. A reader of committed records must find each record that was written once, and those
of a key in their order, whatever happens to brokers and members meanwhile. Retention deletes records, too: each of them was copied,
or a member's log tells that it is missing.
"""
import json
import time

import scenario
from harness import Failed, expect, wait_until

import plan
from copies import breaches
from gathering import acknowledged_in, gaps_in

ABORTED = 75.0  # s: the brokers abort what a killed member left open after a minute


class Transactions(scenario.Trial):
    TRACKS = tuple(track for track in plan.TRACKS if track != "downstream")

    def act(self, step):
        return self.delete(step.choice) if step.kind == "retention" else super().act(step)

    def delete(self, choice):
        """All records of a partition that are there, or half of those that wait."""
        partition = (self.run.topic, choice % plan.PARTITIONS)
        try:
            committed, (_, end) = self.run.committed().get(partition), self.run.watermarks()[partition]
            upto = 0 if committed is None else end - (end - committed) // 2 * (choice // plan.PARTITIONS % 2)
            if upto:
                self.run.tool("delete-records", *partition, upto)
        except Failed as failure:  # the leader or the coordinator was out
            return f"of {partition[1]}, perhaps not: {str(failure).strip()[-80:]}"
        return f"of {partition[1]} from {committed} to {upto}"

    def create_topics(self):
        self.output = self.run.topic + "-out"
        self.run.create(plan.PARTITIONS, "min.insync.replicas=2")
        self.run.create(plan.PARTITIONS + 2, "min.insync.replicas=2", topic=self.output)

    def work(self, name):
        return {"handler": {"simulate": None, "produce": {"topic": "{topic}-out", "transactional": True}},
                "commit": {"interval": "100ms"}}

    def settle(self):
        """A member whose transaction failed for good has ended with 70, to be started again, as systemd does."""
        while len(self.members.running()) < plan.MEMBERS:
            self.members.join()
        super().settle()

    def gather(self):
        self.read = self.places(self.run.topic, lambda record: (record["partition"], record["offset"]))
        self.lows = {partition: low for (_, partition), (low, _) in self.run.watermarks().items()}
        acknowledged = [(record.partition[1], record.offset) for record in acknowledged_in(self.acks)]
        self.deleted = {(partition, offset) for partition, offset in acknowledged if offset < self.lows[partition]}
        expect(sum(map(len, self.read.values())) >= len(acknowledged) - len(self.deleted), "Kafka lost acknowledged records")
        try:
            self.written = wait_until("the output is as long as the input", self.whole_output, ABORTED, every=1)
        except Failed as failure:
            print(failure)
            self.written = self.places(self.output, origin)

    def whole_output(self):
        written = self.places(self.output, origin)
        present = sum(offset >= self.lows[partition] for (partition, _), offsets in written.items() for offset in offsets)
        return written if present >= sum(map(len, self.read.values())) else None

    def places(self, topic, place_of):
        """The records that a reader of committed records finds, in the form of copies.py."""
        found = {}
        for record in map(json.loads, self.run.tool("read", topic)):
            if "value" in record:
                partition, offset = place_of(record)
                found.setdefault((partition, record["key"]), []).append(offset)
        return found

    def tell(self):
        done_again = sum(len(service.events("transaction aborted, its records run again")) for service in self.members.services.values())
        print(json.dumps({"records": sum(map(len, self.read.values())), "written": sum(map(len, self.written.values())),
                          "deleted": len(self.deleted), "transactions aborted by the service": done_again}))
        found = breaches(self.read, self.written, self.lows)
        copied = {(partition, offset) for (partition, _), offsets in self.written.items() for offset in offsets}
        gaps = [gap for service in self.members.services.values() for gap in gaps_in(service.log).items()]
        told = {(partition, offset) for (_, partition), runs in gaps for begin, end in runs for offset in range(begin, end)}
        if self.deleted - copied - told:
            found["deleted, and no log tells"] = [f"partition {partition}, offset {offset}"
                                                  for partition, offset in sorted(self.deleted - copied - told)]
        for name, life in self.members.lives.items():
            if life.killed is None and life.code not in (0, 70, 75):
                found.setdefault("ended by itself", []).append(f"{name} with exit code {life.code}")
        return [f"BREACH, {what}:\n  " + "\n  ".join(sentences) for what, sentences in found.items()]


def origin(record):
    """Where a copy was read, by its delivery id."""
    words = bytes.fromhex(dict(record["headers"])["Laneway-Delivery-Id"]).decode().split("/")
    return int(words[-2]), int(words[-1])


if __name__ == "__main__":
    scenario.main("transactions", Transactions)
