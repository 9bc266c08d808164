"""A nightly batch: records come at once, some always fail, and then nothing comes. usage: nightly_batch.py http|exec|produce

Whatever happens to the members meanwhile, each poison record becomes a dead letter, the others are done, and no failure of a
poison record is taken for an outage: no breaker opens. Two batches run side by side, each on topics of its own: one with retry
topics, in which a second member joins and the first one is stopped; and one without, whose member is killed and then stopped
while the poison records wait, so that the poison records are all that is left.
"""
import functools
import json
import sys

import harness
from downstream import Downstream, is_poison
from harness import Promises, expect, expect_equal, wait_until

HANDLER = sys.argv[1] if len(sys.argv) > 1 else "http"
PARTITIONS, RECORDS, PER_CENT, LATE = 4, 1000, 2, 3
PROGRAM = f"""
import json, sys, zlib

for line in sys.stdin:
    record = json.loads(line)
    poison = zlib.crc32(record["value"].split(".")[0].encode()) % 100 < {PER_CENT}
    print(json.dumps({{"id": record["id"], "outcome": "retry" if poison else "done"}}), flush=True)
"""


class Web:
    def __init__(self, run):
        self.service = Downstream(run.folder, "web", poison=PER_CENT)
        self.settings = {"http": {"url": self.service.url + "/orders"}}

    def close(self):
        self.service.close()


class Program:
    def __init__(self, run):
        program = run.folder / "program.py"
        program.write_text(PROGRAM)
        self.settings = {"exec": {"command": [sys.executable, str(program)]}}

    def close(self):
        pass


class Topic:
    """The output topic is compacted, so it refuses records without a key."""

    def __init__(self, run):
        run.create(PARTITIONS, "cleanup.policy=compact", topic=run.topic + "-out")
        self.settings = {"produce": {"topic": "{topic}-out"}}

    def close(self):
        pass


def write_batch(run):
    if HANDLER != "produce":
        return run.produce("--count", RECORDS, "--size", 100)
    for count, *more in ((RECORDS // 2,), (RECORDS * PER_CENT // 100, "--null-keys"), (RECORDS // 2,)):
        run.produce("--count", count, "--size", 100, *more)
    return None


def poison_in(run):
    """{(partition, offset)}"""
    poison = set()
    for record in map(json.loads, run.tool("read", run.topic)):
        if "value" not in record:
            continue
        number = bytes.fromhex(record["value"]).split(b".")[0].decode()
        if record.get("key") is None if HANDLER == "produce" else is_poison(number, PER_CENT):
            poison.add((record["partition"], record["offset"]))
    expect(len(poison) >= RECORDS * PER_CENT // 200, f"only {len(poison)} poison records")
    return poison


def letters_of(run):
    return sum(end - low for low, end in run.watermarks([run.topic + "-dlt"]).values())


class Batch:
    def __init__(self, run, handler, retry):
        self.run, self.services, self.duplicates, self.poison = run, [], 0, poison_in(run)
        self.options = {"handler": {"simulate": None, **handler.settings}, "retry": retry, "kafka": harness.SHORT_SESSION,
                        "dead_letter": {"topic": "{topic}-dlt"}, "lanes": {"workers": 2 if HANDLER == "exec" else 8}}

    def member(self, name):
        service = self.run.service(name, **self.options)
        wait_until(f"{name} has partitions", lambda: service.events("lane assigned"))
        self.services.append(service)
        return service

    def wait_for_first_failures(self):
        """Every record that works is done, and every poison record has failed."""
        good = RECORDS - (0 if HANDLER == "produce" else len(self.poison))
        wait_until("the records that work are done", lambda: sum(each.processed() for each in self.services) >= good)

    def wait_for_suspects(self):
        """Commits name every poison record that waits; what the output topic refuses is given up at once."""
        def named():
            commits = list(map(json.loads, self.run.tool("committed", self.run.group, self.run.topic)))
            return sum(commit["metadata"].count(",") + 1 for commit in commits if "failed=" in (commit["metadata"] or ""))
        if HANDLER != "produce":
            wait_until("commits name the poison records", lambda: named() == len(self.poison))

    def end(self, last):
        """Records that come later are done as if nothing had been."""
        wait_until("each poison record is a dead letter", lambda: letters_of(self.run) >= len(self.poison))
        expect(not any(service.events("breaker open") for service in self.services), "poison was taken for an outage")
        wait_until("the service is ready", lambda: json.loads(last.get("/status"))["ready"])
        done = last.processed()
        self.run.produce("--count", LATE, "--size", 100, "--value", "0.{}")
        wait_until("late records are done", lambda: last.processed() >= done + LATE)
        self.run.wait_for_no_lag(self.topics())
        last.stop()
        self.judge()

    def topics(self):
        return [self.run.topic, *self.retries()]

    def retries(self):
        return [f"{self.run.topic}-retry-{delay}" for delay in self.options["retry"].get("topics", [])]

    def judge(self):
        letters = self.run.topic + "-dlt"
        self.run.judge(Promises(stopped_clean=True, duplicates=self.duplicates), self.topics(), [letters], self.retries(),
                       show=False)
        found = {copy.origin[1:] for copy in self.run.evidence.copies["dead_letter"]}
        expect_equal(self.poison, found, "dead letters")
        print(f"{self.run.name}: {len(found)} dead letters")


def with_retry_topics(batch):
    first = batch.member("first")
    batch.wait_for_first_failures()
    second = batch.member("second")
    first.stop()
    batch.end(second)


def with_attempts(batch):
    first = batch.member("first")
    batch.wait_for_first_failures()
    batch.wait_for_suspects()
    first.kill()
    batch.duplicates = RECORDS // 10  # finished just before
    second = batch.member("second")
    second.stop()
    batch.end(batch.member("third"))


ROWS = {"topics": (with_retry_topics, {"attempts": 2, "backoff": "500ms", "max_backoff": "1s", "topics": ["2s", "4s"]}),
        "attempts": (with_attempts, {"attempts": 8, "backoff": "2s", "max_backoff": "4s"})}


def play(name, run):
    course, retry = ROWS[name]
    with run.part(f"nightly-{HANDLER}-{name}") as part:
        part.create(PARTITIONS)
        part.create(PARTITIONS, topic=part.topic + "-dlt")
        handler = {"http": Web, "exec": Program, "produce": Topic}[HANDLER](part)
        try:
            write_batch(part)
            course(Batch(part, handler, retry))
        finally:
            handler.close()


def scenario(run):
    cases = []
    for name in ROWS:
        cases.append(functools.partial(play, name))
        cases[-1].__name__ = name
    harness.at_once(run, cases)


if __name__ == "__main__":
    harness.main("nightly_batch", scenario)
