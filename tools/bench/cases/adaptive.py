"""Numbers of workers that follow a web service whose capacity changes, beside the best fixed numbers.

The web service works on so many requests at once, 50 ms each or a fifth more or less, and queues the others, or refuses them, for an
algorithm that looks at refusals alone. Fixed numbers of workers are measured first, at each capacity: half of it, for the latency
without a queue, and about all of it, for the rate. One round: a run of an algorithm already lasts for minutes.

At last the web service can take any number of requests, and one of its 25 instances is broken: it answers 503 at once. Fewer calls
would not help, so the right limit is the highest one.
"""
import contextlib
import json
import re
import signal
import subprocess
import time
import urllib.request
from array import array
from bisect import bisect_left
from typing import NamedTuple

from ...failure import Failure

PARTITIONS, RECORDS = 4, 450_000
CAPACITIES = (100, 20, 200)
DELAY_MS, VARY = 50, 0.2
QUEUES, REFUSES = "queues", "refuses"
# AIMD looks at refusals alone: where the web service queues, its latency has no target.
ALGORITHMS = (("aimd", REFUSES), ("aimd", QUEUES), ("vegas", QUEUES), ("gradient", QUEUES))
MIN, MAX = 2, 400
STEP = 45.0  # s at each capacity
SETTLED = 20.0  # s after which all is measured
SPAN = 5  # s: rates and latencies are looked at over so long, beginning at each second
WARM, FIXED = 3.0, 8.0  # s before and of a measurement of a fixed number
BROKEN, MAX_BROKEN, ANY = 0.04, 64, 1000  # share of 503s, most workers, a capacity that is never reached
PATIENCE = 60.0


class Answers(NamedTuple):
    """Of the web service, in the order of time, in s: when each was sent, and how long after the request had been read."""
    times: array
    latencies: array

    def between(self, begin, end):
        first, last = bisect_left(self.times, begin), bisect_left(self.times, end)
        return Part((last - first) / (end - begin), sorted(self.latencies[first:last]))


class Part(NamedTuple):
    rate: float
    latencies: list  # the least first

    def p99(self):
        return self.latencies[int(0.99 * (len(self.latencies) - 1))] if self.latencies else 0.0


class Best(NamedTuple):
    """Of the fixed numbers of workers at one capacity: the highest rate, and the latency without a queue."""
    rate: float
    p99: float


class Followed(NamedTuple):
    """A step of an algorithm: shares of the best fixed number's rate, and of the latency without a queue."""
    limit: int  # at the end
    rate: float
    p99: float
    rate_settled: float  # s after which the rate stays, None if it does not
    latency_settled: float


class WebService:
    def __init__(self, bench, beyond, failing):
        self.journal = bench.build_folder / "bench-adaptive.answers"
        command = [bench.build_folder / "integration/bench/http_server", "--delay", DELAY_MS, "--vary", VARY, "--capacity", CAPACITIES[0],
                   "--failing", failing, "--journal", self.journal] + ["--refuse"] * (beyond == REFUSES)
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/orders"

    def become(self, capacity):
        """The time, by the web service's clock."""
        self.process.stdin.write(f"capacity {capacity}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()) / 1e6

    def close(self):
        """All answers."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        numbers = array("I", self.journal.read_bytes())
        return Answers(array("d", (number / 1e6 for number in numbers[::2])), array("d", (number / 1e6 for number in numbers[1::2])))


class Service:
    """`laneway run`, with these `workers`."""

    def __init__(self, bench, url, workers):
        self.file, self.log = bench.build_folder / "bench-adaptive.yaml", bench.build_folder / "bench-adaptive.log"
        self.settings = {"kafka": {"bootstrap.servers": bench.bootstrap, "group.id": bench.group()},
                         "topics": [bench.topic("adaptive", PARTITIONS, RECORDS)],
                         "handler": {"http": {"url": url, "connections": 1024}}, "lanes": {"workers": workers},
                         "admin": {"listen": "127.0.0.1:0"}}
        self.file.write_text(json.dumps(self.settings))  # JSON is YAML
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([str(bench.build_folder / "app/laneway"), "run", "-c", str(self.file)],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.address = self.wait_for("listens", lambda: re.search(r'msg="admin listening".* address="?([^"\s]+)', self.log.read_text()))[1]
        self.wait_for("works", lambda: any(lane["finished"] for lane in self.status()["lanes"]))

    def wait_for(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := condition():
                return found
            time.sleep(0.05)
        raise Failure(f"laneway never {what}:\n{self.log.read_text()[-3000:]}")

    def status(self):
        with urllib.request.urlopen(f"http://{self.address}/status", timeout=PATIENCE) as answer:
            return json.loads(answer.read())

    def limit(self):
        return self.status()["breaker"]["limit"]

    def change(self, workers):
        before = self.log.read_text().count("msg=reloaded")
        self.settings["lanes"]["workers"] = workers
        self.file.write_text(json.dumps(self.settings))
        self.process.send_signal(signal.SIGHUP)
        self.wait_for("reloaded", lambda: self.log.read_text().count("msg=reloaded") > before)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


@contextlib.contextmanager
def running(bench, workers, beyond, failing=0.0):
    """The web service, which does `beyond` with what is too much, and the service; the answers are in the list afterwards.

    `failing`: share of the requests that fail, however many there are.
    """
    web, answers = WebService(bench, beyond, failing), []
    try:
        service = Service(bench, web.url, workers)
        try:
            yield web, service, answers
        finally:
            service.stop()
    finally:
        answers.append(web.close())


def fixed(bench):
    """{capacity: Best}"""
    times = {}
    with running(bench, CAPACITIES[0] // PARTITIONS, QUEUES) as (web, service, answers):
        for capacity in CAPACITIES:
            for share in (0.5, 1.0, 1.1):
                web.become(capacity)
                service.change(max(1, int(share * capacity / PARTITIONS)))
                time.sleep(WARM)
                begin = web.become(capacity)
                time.sleep(FIXED)
                times[capacity, share] = begin, web.become(capacity)
    found = {}
    for capacity in CAPACITIES:
        parts = {share: answers[0].between(*times[capacity, share]) for share in (0.5, 1.0, 1.1)}
        found[capacity] = Best(max(part.rate for part in parts.values()), parts[0.5].p99())
        for share, part in parts.items():
            note(bench, f"fixed, {share} of {capacity}", rate=part.rate, p99_ms=1000 * part.p99())
    return found


def followed(bench, algorithm, beyond, best):
    """{capacity: Followed}"""
    begins, limits = [], []
    with running(bench, {"min": MIN, "max": MAX, "algorithm": algorithm}, beyond) as (web, service, answers):
        for capacity in CAPACITIES:
            begins.append(web.become(capacity))
            time.sleep(STEP)
            limits.append(service.limit())
        end = web.become(CAPACITIES[-1])
    found = {}
    for capacity, begin, end, limit in zip(CAPACITIES, begins, [*begins[1:], end], limits):
        found[capacity] = step = judged(answers[0], begin, end, best[capacity], limit["limit"])
        note(bench, f"{algorithm}, {beyond}, {capacity}", **step._asdict())
    return found


def judged(answers, begin, end, best, limit):
    all_of_it = answers.between(begin + SETTLED, end)
    spans = [answers.between(begin + second, begin + second + SPAN) for second in range(int(end - begin) - SPAN + 1)]
    return Followed(limit, all_of_it.rate / best.rate, all_of_it.p99() / best.p99,
                    settled([span.rate >= 0.9 * best.rate for span in spans]), settled([span.p99() <= 1.5 * best.p99 for span in spans]))


def settled(fine):
    """The number of seconds after which all is fine."""
    bad = [second for second, one in enumerate(fine) if not one]
    return 0.0 if not bad else None if bad[-1] == len(fine) - 1 else float(bad[-1] + 1)


def broken(bench, workers, failing):
    """The rate of the requests that are done, when the limit has settled, and the limit."""
    limit = None
    with running(bench, workers, QUEUES, failing) as (web, service, answers):
        web.become(ANY)
        time.sleep(SETTLED)
        begin = web.become(ANY)
        time.sleep(STEP - SETTLED)
        end = web.become(ANY)
        if isinstance(workers, dict):
            limit = service.limit()["limit"]
    rate = answers[0].between(begin, end).rate
    note(bench, f"{failing:.0%} of 503, {workers}", rate=rate, limit=limit or workers * PARTITIONS)
    return rate, limit


def a_broken_instance(bench):
    few, _ = broken(bench, 16 // PARTITIONS, BROKEN)
    best, _ = broken(bench, MAX_BROKEN // PARTITIONS, BROKEN)
    bench.row("4 % of 503, 16 fixed workers", f"{few:,.0f}/s", "", None)
    bench.row(f"4 % of 503, {MAX_BROKEN} fixed workers", f"{best:,.0f}/s", "", None)
    for algorithm in ("vegas", "aimd", "gradient"):
        rate, limit = broken(bench, {"min": MIN, "max": MAX_BROKEN, "algorithm": algorithm}, BROKEN)
        bench.row(f"4 % of 503, {algorithm}", f"{rate:,.0f}/s, {rate / best:.2f} x, limit {limit}", ">= 0.9 x", rate >= 0.9 * best,
                  ratio=rate / best)


def note(bench, case, **figures):
    bench.runs.append({"command": f"adaptive: {case}", **figures})
    print(f"  {case}: " + " ".join(f"{name}={'never' if value is None else format(value, '.4g')}" for name, value in figures.items()), flush=True)


def within(seconds):
    return seconds is not None and seconds <= SETTLED


def in_words(seconds):
    return "never" if seconds is None else f"{seconds:.0f} s"


def adaptive(bench):
    best = fixed(bench)
    for capacity, one in best.items():
        bench.row(f"fixed at {capacity}", f"{one.rate:,.0f}/s, p99 {1000 * one.p99:.0f} ms", "", None)
    for algorithm, beyond in ALGORITHMS:
        for capacity, step in followed(bench, algorithm, beyond, best).items():
            case = f"{algorithm} at {capacity}" + " that refuses" * (beyond == REFUSES)
            bench.row(case, f"{step.rate:.2f} x, settled {in_words(step.rate_settled)}, limit {step.limit}", ">= 0.9 x, <= 20 s",
                      step.rate >= 0.9 and within(step.rate_settled), ratio=step.rate)
            known = algorithm == "aimd" and beyond == QUEUES
            bench.row(f"{case}, p99", f"{step.p99:.2f} x, settled {in_words(step.latency_settled)}", "" if known else "<= 1.5 x, <= 20 s",
                      None if known else step.p99 <= 1.5 and within(step.latency_settled), ratio=step.p99)
    a_broken_instance(bench)
