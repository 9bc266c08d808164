"""A nightly batch: records come at once, some always fail, and then nothing comes. usage: nightly_batch.py http|exec|produce

Whatever happens to the members meanwhile, each poison record becomes a dead letter, the others are done, and no failure of a
poison record is taken for an outage: no breaker opens. Batches run side by side, each on topics of its own: one with retry topics,
in which a second member joins and the first one is stopped; one without, whose member is killed and then stopped while the poison
records wait, so that the poison records are all that is left; and some with other shares of poison whose member is left alone: it
is ready all the time, does new records quickly, and gives the poison up in time. In one of these batches the web service does
not answer poison, so that the attempts time out after the other records are done. In the last batch the web service fails from
the moment at which only poison is left.
"""
import functools
import json
import sys
import time

import harness
from downstream import Downstream, is_poison
from harness import Promises, expect, expect_equal, wait_until

HANDLER = sys.argv[1] if len(sys.argv) > 1 else "http"
PARTITIONS, RECORDS, PER_CENT, LATE = 4, 1000, 2, 3
EACH = 20  # records of a partition that finish until a commit is sent
IN_TIME, AT_ONCE = 15, 5  # s: for a dead letter beyond its delays; for a record that comes while poison waits
IN_OUTAGE, RATE, HANDFUL = 100, 20, 25  # records that come in the outage, a second; how many the outage may cost
PROGRAM = f"""
import json, sys, zlib

for line in sys.stdin:
    record = json.loads(line)
    poison = zlib.crc32(record["value"].split(".")[0].encode()) % 100 < {PER_CENT}
    print(json.dumps({{"id": record["id"], "outcome": "retry" if poison else "done"}}), flush=True)
"""


class Web:
    workers = 8
    timeout = 30  # s, of an attempt

    def __init__(self, run, per_cent, **mode):
        self.service = Downstream(run.folder, "web", poison=per_cent, **mode)
        self.settings = {"http": {"url": self.service.url + "/orders", "timeout": f"{self.timeout}s"}}

    def close(self):
        self.service.close()


class WebThatHangs(Web):
    """Poison gets no answer."""

    workers = 32
    timeout = 5

    def __init__(self, run, per_cent):
        super().__init__(run, per_cent, poison_kind="hang")


class Program:
    workers = 2

    def __init__(self, run, _):
        program = run.folder / "program.py"
        program.write_text(PROGRAM)
        self.settings = {"exec": {"command": [sys.executable, str(program)]}}

    def close(self):
        pass


class Topic:
    """The output topic is compacted, so it refuses records without a key."""

    workers = 8

    def __init__(self, run, _):
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


def poison_in(run, per_cent):
    """{(partition, offset)}"""
    poison = set()
    for record in map(json.loads, run.tool("read", run.topic)):
        if "value" not in record:
            continue
        number = bytes.fromhex(record["value"]).split(b".")[0].decode()
        if record.get("key") is None if HANDLER == "produce" else is_poison(number, per_cent):
            poison.add((record["partition"], record["offset"]))
    expect(len(poison) >= RECORDS * per_cent / 200, f"only {len(poison)} poison records")
    return poison


def letters_of(run):
    return sum(end - low for low, end in run.watermarks([run.topic + "-dlt"]).values())


class Batch:
    def __init__(self, run, handler, retry, per_cent):
        self.run, self.handler, self.services, self.duplicates, self.poison = run, handler, [], 0, poison_in(run, per_cent)
        self.disturbed = 0  # when a member came or went last
        self.healthy = next(number for number in range(RECORDS) if not is_poison(number, per_cent))
        self.options = {"handler": {"simulate": None, **handler.settings}, "retry": retry, "kafka": harness.SHORT_SESSION,
                        "commit": {"every": EACH}, "dead_letter": {"topic": "{topic}-dlt"},
                        "lanes": {"workers": handler.workers}}

    def member(self, name):
        service = self.run.service(name, **self.options)
        wait_until(f"{name} has partitions", lambda: service.events("lane assigned"))
        self.services.append(service)
        return service

    def wait_for_first_failures(self, also=lambda: True):
        """Every record that works is done, and every poison record has failed."""
        good = RECORDS - (0 if HANDLER == "produce" else len(self.poison))
        wait_until("the records that work are done", lambda: also() and sum(each.processed() for each in self.services) >= good)

    def send_healthy(self, count, *options):
        self.run.produce("--count", count, "--size", 100, "--value", f"{self.healthy}.{{}}", *options)

    def wait_for_letters(self, also=lambda: True):
        wait_until("each poison record is a dead letter", lambda: also() and letters_of(self.run) >= len(self.poison))

    def wait_for_suspects(self):
        """Commits name every poison record that waits; what the output topic refuses is given up at once."""
        def named():
            commits = list(map(json.loads, self.run.tool("committed", self.run.group, self.run.topic)))
            return sum(commit["metadata"].count(",") + 1 for commit in commits if "failed=" in (commit["metadata"] or ""))
        if HANDLER != "produce":
            wait_until("commits name the poison records", lambda: named() == len(self.poison))

    def end(self, last):
        """Records that come later are done as if nothing had been."""
        self.wait_for_letters()
        expect(not any(service.events("breaker open") for service in self.services), "poison was taken for an outage")
        wait_until("the service is ready", lambda: json.loads(last.get("/status"))["ready"])
        done = last.processed()
        self.send_healthy(LATE)
        wait_until("late records are done", lambda: last.processed() >= done + LATE)
        self.run.wait_for_no_lag(self.topics())
        last.stop()
        self.judge()

    def topics(self):
        return [self.run.topic, *self.retries()]

    def retries(self):
        return [f"{self.run.topic}-retry-{delay}" for delay in self.options["retry"].get("topics", [])]

    def judge(self, more=0):
        """`more`: the number of dead letters that need not be poison."""
        letters = self.run.topic + "-dlt"
        self.run.judge(Promises(stopped_clean=True, duplicates=self.duplicates), self.topics(), [letters], self.retries(),
                       show=False)
        found = {copy.origin[1:] for copy in self.run.evidence.copies["dead_letter"]}
        expect_equal(self.poison, self.poison & found, "poison records that are dead letters")
        expect(len(found - self.poison) <= more, f"{len(found - self.poison)} other records are dead letters")
        print(f"{self.run.name}: {len(found)} dead letters")


def with_retry_topics(batch):
    first = batch.member("first")
    batch.wait_for_first_failures()
    second = batch.member("second")
    first.stop()
    batch.disturbed = time.time()
    batch.end(second)
    expect_letters_in_time(batch)


def with_attempts(batch):
    first = batch.member("first")
    batch.wait_for_first_failures()
    batch.wait_for_suspects()
    first.kill()
    batch.duplicates = PARTITIONS * (EACH + 8)  # finished just before
    second = batch.member("second")
    second.stop()
    third = batch.member("third")
    batch.disturbed = time.time()
    batch.end(third)
    expect_letters_in_time(batch)


def expect_ready(service):
    answer = service.readiness("/readyz?format=json")
    expect('"ready":true' in answer, f"{service.name} is not ready: {answer}")
    return True


def undisturbed(batch):
    only = batch.member("only")
    wait_until("the service is ready", lambda: '"ready":true' in only.readiness("/readyz?format=json"))
    batch.wait_for_first_failures(also=lambda: expect_ready(only))
    ends, done = batch.run.watermarks(), only.processed()
    batch.send_healthy(LATE)
    wait_until("late records are done", lambda: expect_ready(only) and only.processed() >= done + LATE)
    batch.wait_for_letters(also=lambda: expect_ready(only))
    batch.end(only)
    expect_quickly_done(batch.run, only, ends)
    expect_letters_in_time(batch)


def expect_quickly_done(run, service, ends):
    """The records at `ends`, which were sent while the poison records waited."""
    done = {}
    for attempt in map(json.loads, service.journal.read_text().splitlines()):
        if attempt["outcome"] == "success":
            done[attempt["topic"], attempt["partition"], attempt["offset"]] = attempt["end"] / 1e9
    late = [record for record in map(json.loads, run.tool("read", run.topic))
            if record["offset"] >= ends[run.topic, record["partition"]][1] and "value" in record]
    took = [done[run.topic, record["partition"], record["offset"]] - record["timestamp"] / 1e3 for record in late]
    print(f"{run.name}: records that came while poison waited took at most {max(took):.1f} s")
    expect(len(took) >= LATE and max(took) < AT_ONCE, f"records that came while poison waited took {took} s")


def expect_letters_in_time(batch):
    """By the time at which each record was produced or the last member came or went, and the time at which its dead letter was
    written."""
    retry = batch.options["retry"]
    delays = [min(seconds(retry["backoff"]) * 2**i, seconds(retry["max_backoff"])) for i in range(retry["attempts"] - 1)]
    delays += map(seconds, retry.get("topics", []))
    attempts = retry["attempts"] * batch.handler.timeout if isinstance(batch.handler, WebThatHangs) else 0
    took = [copy.record.timestamp / 1e3 - max(copy.timestamp / 1e3, batch.disturbed)
            for copy in batch.run.evidence.copies["dead_letter"]]
    print(f"{batch.run.name}: dead letters after at most {max(took):.1f} s, with delays of {sum(delays):.1f} s and attempts of "
          f"{attempts} s")
    expect(max(took) < sum(delays) + attempts + IN_TIME, f"a poison record was given up after {max(took):.1f} s")


def seconds(duration):
    return float(duration[:-2]) / 1000 if duration.endswith("ms") else float(duration.removesuffix("s"))


def with_an_outage(batch):
    """It takes longer than the delays of a record, so that attempts that counted would be used up."""
    only = batch.member("only")
    batch.wait_for_first_failures()
    batch.handler.service.become("500")
    batch.send_healthy(IN_OUTAGE, "--rate", RATE)
    batch.handler.service.become("work")
    batch.run.wait_for_no_lag(batch.topics())
    only.stop()
    batch.judge(more=HANDFUL)
    expect(only.events("breaker open"), "the outage was not noticed")


BRIEF = {"attempts": 8, "backoff": "500ms", "max_backoff": "2s"}
ROWS = {"topics": (with_retry_topics, {"attempts": 2, "backoff": "500ms", "max_backoff": "1s", "topics": ["2s", "4s"]}, PER_CENT),
        "attempts": (with_attempts, {"attempts": 8, "backoff": "2s", "max_backoff": "4s"}, PER_CENT),
        "undisturbed": (undisturbed, BRIEF, PER_CENT)}
if HANDLER == "http":
    ROWS |= {f"undisturbed-{per_cent}": (undisturbed, BRIEF, per_cent) for per_cent in (0.7, 10)}
    ROWS["time-outs"] = (undisturbed, {"attempts": 3, "backoff": "500ms", "max_backoff": "1s"}, 5)
    ROWS["outage"] = (with_an_outage, {"attempts": 4, "backoff": "500ms", "max_backoff": "1s"}, PER_CENT)


def play(name, run):
    course, retry, per_cent = ROWS[name]
    with run.part(f"nightly-{HANDLER}-{name}") as part:
        part.create(PARTITIONS)
        part.create(PARTITIONS, topic=part.topic + "-dlt")
        web = WebThatHangs if name == "time-outs" else Web
        handler = {"http": web, "exec": Program, "produce": Topic}[HANDLER](part, per_cent)
        try:
            write_batch(part)
            course(Batch(part, handler, retry, per_cent))
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
