"""An outage never becomes dead letters, however the outage shows itself; poison does. usage: outages.py [GROUP or ROW or ROW=TIMES ...]

Each row is one kind of outage on topics of its own; the rows of a group run side by side. A row has three attempts within a
second for each record, so a service that counted an outage's failures would fill the dead-letter topic at once. In the end
every record is done or a dead letter, no commit is ahead of that, and no more dead letters are there than the row allows.
"""
import collections
import functools
import json
import math
import re
import subprocess
import sys
import time
from typing import Callable, NamedTuple

import harness
from downstream import is_poison
from harness import LANEWAY, PATIENCE, Promises, expect, expect_equal, inherited_environment, wait_until
from outage_handlers import Cluster, Library, Plugin, Program, Web

PARTITIONS, ATTEMPTS = 4, 3
LASTS = 5.0  # s, of an outage: longer than all attempts of a record, and than the doubt about a record
BEYOND_DEFAULTS = 40.0  # s, the same where the attempts are those of the defaults
RETRY = {"attempts": ATTEMPTS, "backoff": "100ms", "max_backoff": "500ms"}
FLAP = 3.0  # s up, and as many down
FEW = 25  # records may fail before an outage is noticed
REJECTED = 400  # records may be rejected before that is taken for a mistake: dead_letter.max_rate over a minute, and some


# How a row goes on, once records are done.

def outage(story):
    """One after the other where `how` is a list."""
    for how in story.hows:
        story.fail(how)
        time.sleep(story.row.lasts)
        story.work()


def flapping(story):
    for _ in range(story.row.times):
        outage(story)
        time.sleep(FLAP)


def started_again(story):
    """Records that always fail come first then, because all others are done."""
    story.wait_for_more(2 * story.row.rate)
    story.service.stop()
    story.start_service("again")
    story.wait_for_more(2 * story.row.rate)


def partly_out(story):
    """Records go on succeeding through the backends that work."""
    story.handler.fail(story.hows[0])
    begun = time.monotonic()
    while time.monotonic() < begun + story.row.lasts:
        story.wait_for_more(story.row.rate // 4)
    story.handler.work()


def restarts(story):
    for _ in range(12):
        story.handler.downstream.become("restart")
        story.wait_for_more(story.row.rate // 4)


def operator_decides(story):
    """The oldest record of a partition is skipped during the outage; then a reload turns the attribution off."""
    story.fail(story.hows[0])
    wait_until("the breaker is open", lambda: story.service.metric("breaker_state") > 0)
    wait_until("readiness says what fails", lambda: re.search(r"fails for \d+ % of calls: HTTP 500", story.service.readiness()))
    wait_until("the oldest record is skipped", lambda: skip(story, story.run.committed()[story.run.topic, 0]))
    wait_until("the record is a dead letter", lambda: story.service.metric("dead_letters_total", reason="skipped") == 1)
    story.service.reload(breaker={"failures": 0})
    wait_until("records are given up", lambda: story.service.metric("dead_letters_total", reason="attempts_exhausted") > FEW)
    story.service.reload(breaker={"failures": 5})
    story.work()


def skip(story, offset):
    """Whether the record was still there."""
    address, place = story.service.url().removeprefix("http://"), f"{story.run.topic}:0:{offset}"
    done = subprocess.run([LANEWAY, "skip", "--admin", address, place, "--reason", "a mistake"], timeout=PATIENCE, text=True,
                          env=inherited_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(f"{story.row.name}: skip {place}: {done.returncode} {done.stdout.strip()}", flush=True)
    return done.returncode == 0


def nothing(story):
    story.wait_for_more(2 * story.row.rate)


def alone(story):
    wait_until("poison records are dead letters", lambda: story.service.metric("dead_letters_total") >= 3)


class Row(NamedTuple):
    name: str
    how: object = None  # the outage: fields of downstream.Mode, the orders for the program or the plugin; a list: several outages
    letters: float = FEW  # dead letters, and records in retry topics, at the most, poison aside
    handler: Callable = Web
    settings: dict = {}
    http: dict = {}
    poison: dict = {}  # fields of downstream.Mode
    tls: bool = False
    rate: int = 200  # records/s
    lasts: float = LASTS
    course: Callable = outage
    times: int = 1
    first_attempts: bool = False  # no attempt is used up: every record is done at its first


def status(code, letters=FEW):
    return Row(str(code), {"kind": str(code)}, letters)


def statuses(*codes):
    return [{"kind": str(code)} for code in codes]


DEFAULTS = {"retry": None, "breaker": None}
BRIEF_RETRIES = {"retry": {"backoff": "50ms", "max_backoff": "100ms"}}
BATCH = {"batch": {"records": 20, "linger": "50ms"}}
LARGE_BATCH = {"batch": {"records": 500, "linger": "50ms"}}
SOME_POISON = {"poison": 5}
ROWS = [
    # The web service fails as a whole.
    Row("refuse", {"kind": "refuse"}, 0),
    Row("reset", {"kind": "reset"}, 0),
    Row("tls", {"kind": "tls"}, 0, tls=True),
    status(500), status(503, 0), status(429, 0),
    Row("credentials", statuses(401, 403, 407)),
    Row("route", statuses(404, 405, 410, 302)),
    Row("400", {"kind": "400"}, REJECTED),
    Row("429-retry-after", {"kind": "429", "retry_after": 2}, 0),
    Row("hang-1s", {"kind": "hang"}, 0, http={"timeout": "1s"}),
    Row("hang-300ms", {"kind": "hang"}, 0, http={"timeout": "300ms"}, settings=DEFAULTS, rate=50, lasts=BEYOND_DEFAULTS),
    Row("500-defaults", {"kind": "500"}, settings=DEFAULTS, rate=50, lasts=BEYOND_DEFAULTS),
    # The same, at other rates and with other settings.
    Row("slow-stream", {"kind": "500"}, rate=5),
    # As one record a minute with the attempts of half a minute: each record is alone with all its attempts.
    Row("alone", {"kind": "500"}, 5, rate=2, settings=BRIEF_RETRIES),
    Row("alone-poison", letters=0, rate=2, settings=BRIEF_RETRIES, poison={"poison": 20}, course=alone),
    Row("fast-stream", {"kind": "500"}, rate=5000, lasts=4.0, http=LARGE_BATCH,
        settings={"lanes": {"workers": 500, "queue": 2000}}),
    Row("order-key", {"kind": "500"}, settings={"lanes": {"order": "key"}}),
    Row("order-partition", {"kind": "500"}, settings={"lanes": {"order": "partition"}}),
    Row("retry-topics", {"kind": "500"}, settings={"retry": {"topics": ["1s"]}}),
    Row("batch", {"kind": "500"}, http=BATCH),
    Row("500-mapped", {"kind": "500"}, 0, http={"statuses": {"500": "unavailable"}}),
    Row("operator", {"kind": "500"}, math.inf, course=operator_decides),
    # Poison, with an outage and without; a service that is out in part, or again and again.
    Row("poison", {"kind": "500"}, poison=SOME_POISON),
    Row("poison-reset", {"kind": "reset"}, poison={"poison": 5, "poison_kind": "reset"}),
    Row("poison-30", poison={"poison": 30}, letters=0, course=nothing),
    Row("poison-key", poison={"poison": 10}, letters=0, course=nothing, settings={"lanes": {"order": "key"}}),
    Row("poison-restart", poison={"poison": 10}, letters=0, course=started_again,
        settings={"retry": {"backoff": "1s", "max_backoff": "1s"}, "breaker": {"probe": "5s"}}),
    Row("flapping", {"kind": "500"}, course=flapping, lasts=FLAP, times=3),
    Row("one-of-three", {"kind": "500", "share": 0.33}, 0, course=partly_out),
    Row("two-of-three", {"kind": "500", "share": 0.66}, 0, course=partly_out),
    Row("one-refuses", {"kind": "reset", "share": 0.33}, 0, course=partly_out),
    Row("restarts", course=restarts, letters=0, first_attempts=True),
    Row("throttle", {"kind": "429", "beyond": 120}, 0, course=partly_out, first_attempts=True),
    # Other handlers.
    Row("exec", ["retry", "exit", "hang"], handler=Program),
    Row("plugin", ["retry", "throw", "hang"], handler=Plugin),
    Row("library", ["retry", "throw", "hang"], handler=Library),
    Row("produce", handler=Cluster, letters=0),
]
GROUPS = {  # each is one test: so many rows run side by side
    "statuses": ["500", "500-defaults", "503", "500-mapped", "credentials", "route"],
    "connections": ["refuse", "reset", "tls", "hang-1s", "hang-300ms", "restarts"],
    "streams": ["slow-stream", "fast-stream", "alone", "alone-poison", "400", "429", "429-retry-after"],
    "settings": ["order-key", "order-partition", "retry-topics", "batch", "operator", "throttle"],
    "poisoned": ["poison", "poison-reset", "poison-30", "poison-key", "poison-restart"],
    "partial": ["flapping", "one-of-three", "two-of-three", "one-refuses"],
    "handlers": ["exec", "plugin", "library"],
    "produce": ["produce"],
}


class Story:
    """One row under way."""

    def __init__(self, row, run):
        self.row, self.run = row, run
        self.letters, self.retries = run.topic + "-dlt", []
        run.create(PARTITIONS)
        more = {"http": row.http, "poison": row.poison, "tls": row.tls} if row.handler is Web else {}
        self.handler = row.handler(run, **more)
        self.hows = row.how if isinstance(row.how, list) else [row.how]
        self.service = None

    def start_service(self, name):
        settings = harness.merged({"retry": RETRY, "breaker": {"probe": "1s"}, "dead_letter": {"topic": "{topic}-dlt"},
                                   "handler": {"simulate": None, **self.handler.settings} if self.handler.settings else None,
                                   "lanes": {"workers": 2 if self.row.handler is Program else 8}}, self.row.settings)
        self.retries = [f"{self.run.topic}-retry-{delay}" for delay in (settings.get("retry") or {}).get("topics", [])]
        self.service = self.run.service(name, program=self.handler.program, **settings)
        wait_until("laneway has started", lambda: self.service.events("started"))

    def start(self):
        self.start_service("service")
        self.run.watch_commits(every=2.0, topics=self.topics())
        self.run.produce_meanwhile("--rate", self.row.rate, "--size", 100, "--keys", 400)
        self.wait_for_more(self.row.rate)

    def topics(self):
        return [self.run.topic, *self.retries]

    def wait_for_more(self, records):
        enough = self.service.processed() + records
        wait_until(f"{self.row.name}: {records} more are done", lambda: self.service.processed() >= enough, every=0.3)

    def fail(self, how):
        before = self.failed_attempts()
        self.handler.fail(how)
        wait_until(f"{self.row.name}: records fail", lambda: self.failed_attempts() > before)

    def work(self):
        """As if nothing had been: records are done again."""
        self.handler.work()
        self.wait_for_more(max(1, self.row.rate // 4))

    def failed_attempts(self):
        return self.service.attempts() - self.service.processed()

    def end(self):
        self.run.finish_writing()
        self.run.wait_for_no_lag(self.topics())
        self.service.stop()


def judge(story):
    done = story.handler.done()
    row, run = story.row, story.run
    end = sum(end for low, end in run.watermarks().values())
    order = row.settings.get("lanes", {}).get("order", "none")
    report = run.judge(Promises(stopped_clean=True, order=order), story.topics(), [story.letters], story.retries, show=False)
    letters = {copy.origin[1:] for copy in run.evidence.copies["dead_letter"]}
    waited = {copy.origin[1:] for copy in run.evidence.copies["retry_topic"] or []}
    poison = poison_of(story)
    print(json.dumps({"row": row.name, "records": end, "dead_letters": len(letters - poison), "at_most": str(row.letters),
                      "poison": len(poison), "poison_dead": len(letters & poison), "in_retry_topics": len(waited),
                      "processed": report["processed"], "attempts": dict(attempts_of(story))}), flush=True)
    expect(len(letters - poison) <= row.letters, f"{len(letters - poison)} dead letters; at most {row.letters} are right")
    expect(len(waited - poison) <= row.letters, f"{len(waited)} records in retry topics; at most {row.letters} are right")
    expect_equal(set(), poison - letters, "poison records that are no dead letters")
    if done is not None:
        expect_equal(end, len(done | letters), "records that were done, or are dead letters")
        expect_equal(set(), done & poison, "poison records that were done")
    if row.first_attempts:
        expect_equal({1}, set(attempts_of(story)), "numbers of the attempts")


def poison_of(story):
    if not story.row.poison:
        return set()
    return {(request["partition"], request["offset"]) for request in story.handler.requests()
            if is_poison(request["number"], story.row.poison["poison"])}


def attempts_of(story):
    """{number of an attempt: how many there were}, as laneway counted them."""
    found = collections.Counter()
    for line in story.service.journal.read_text().splitlines():
        found[json.loads(line)["attempt"]] += 1
    return found


def play(row, run):
    with run.part(f"outages-{row.name}") as part:
        story = Story(row, part)
        try:
            story.start()
            row.course(story)
            story.end()
            judge(story)
        finally:
            story.handler.close()


def chosen(words):
    """The rows of these words: NAME, GROUP, or NAME=TIMES for more outages than one."""
    rows = {row.name: row for row in ROWS}
    for word in words:
        for name in GROUPS.get(word, [word]):
            name, _, times = name.partition("=")
            expect(name in rows, f"no such row or group: {name}")
            yield rows[name]._replace(times=int(times)) if times else rows[name]


def scenario(run):
    cases = []
    for row in chosen(sys.argv[1:] or GROUPS):
        cases.append(functools.partial(play, row))
        cases[-1].__name__ = row.name
    harness.at_once(run, cases)


if __name__ == "__main__":
    harness.main("outages", scenario)
