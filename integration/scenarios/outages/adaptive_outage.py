"""The number of workers follows a web service: up to its capacity, down in outages of three kinds, down and up again when its
capacity changes; the metrics, the status and the terminal say so, and no record is lost or given up.

The web service takes 100 ms for each request, and works on so many at once; the others wait in its queue.
"""
import json
import subprocess

import harness
from downstream import Downstream
from harness import LANEWAY, PATIENCE, Promises, expect, expect_equal, inherited_environment, wait_until

PARTITIONS, RECORDS, RATE = 4, 3000, 150
MIN, MAX = 2, 64
USUAL, SMALL, LARGE = 30, 4, 60  # capacities
TAKES = 0.1  # s, of a request


class Story:
    def __init__(self, run, web):
        self.run, self.web = run, web
        self.service = run.service(
            "service", handler={"simulate": None, "http": {"url": web.url + "/orders"}}, breaker={"probe": "1s"},
            dead_letter={"topic": "{topic}-dlt"},
            lanes={"workers": {"min": MIN, "max": MAX, "algorithm": "vegas"}})

    def limit(self):
        return self.service.metric("concurrency_limit")

    def changes(self, reason):
        return self.service.metric("concurrency_limit_changes_total", reason=reason)

    def reported(self):
        """As /status has it."""
        return json.loads(self.service.get("/status"))["breaker"]["limit"]

    def on_terminal(self):
        return subprocess.run([LANEWAY, "status", "--admin", self.service.url().removeprefix("http://")], timeout=PATIENCE, text=True,
                              env=inherited_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def wait_for_rise(self, least):
        wait_until(f"the limit is {least} or more", lambda: self.limit() >= least)
        expect(self.changes("success") > 0, "the limit rose, and no rise was counted")

    def fail(self, kind, reason, words, **mode):
        """The web service fails until the limit has fallen for this reason, which the status then has in these words."""
        before, counted = self.limit(), self.changes(reason)
        self.web.become(kind, **mode)
        wait_until(f"{kind}: a fall of the limit by {reason} is counted", lambda: self.changes(reason) > counted)
        wait_until(f"{kind}: the limit is lower than {before}", lambda: self.limit() < before)
        wait_until(f"{kind}: the status has the reason", lambda: words in self.reported()["why"])
        found = self.reported()
        expect(MIN <= found["to"] < found["from"] <= MAX, f"what the limit moved from and to: {found}")
        expect_equal((MIN, MAX), (found["min"], found["max"]), "bounds of the limit")
        expect(f"lowered from {found['from']} to {found['to']}" in found["words"], f"the words: {found['words']}")
        print(f"{kind}: {before:.0f} -> {self.limit():.0f}: {found['words']}", flush=True)

    def recover(self, capacity=USUAL):
        self.web.become("work", takes=TAKES, capacity=capacity)
        enough = self.service.processed() + RATE
        wait_until("records are done again", lambda: self.service.processed() >= enough)

    def capacity_falls(self):
        before, counted = self.limit(), self.changes("latency")
        self.web.become("work", takes=TAKES, capacity=SMALL)
        wait_until("the limit follows the small capacity", lambda: self.limit() <= 3 * SMALL)
        expect(self.changes("latency") > counted, "the limit fell, and no fall by latency was counted")
        print(f"capacity {SMALL}: {before:.0f} -> {self.limit():.0f}: {self.reported()['words']}", flush=True)


def play(story):
    run = story.run
    run.watch_commits(every=2.0)
    story.wait_for_rise(USUAL // 2)
    wait_until("the terminal shows the limit", lambda: f"calls at once, between {MIN} and {MAX}; raised from" in story.on_terminal())
    story.fail("refuse", "breaker", "the breaker opened")
    wait_until("the breaker is open", lambda: story.service.metric("breaker_state") > 0)
    expect("lowered from" in " ".join(story.on_terminal().split()), "the terminal does not show that the limit fell")
    story.recover()
    story.wait_for_rise(USUAL // 2)
    story.fail("503", "breaker", "the breaker opened")
    story.recover()
    story.wait_for_rise(USUAL // 2)
    story.fail("429", "throttled", "429 for", beyond=RATE // 4, takes=TAKES, capacity=USUAL)
    story.recover()
    story.wait_for_rise(USUAL // 2)
    story.capacity_falls()
    story.recover(LARGE)
    story.wait_for_rise(USUAL)
    run.finish_writing()
    run.wait_for_no_lag()
    story.service.stop()


def scenario(run):
    run.create(PARTITIONS)
    run.create(1, topic=run.topic + "-dlt")
    web = Downstream(run.folder, "web")
    try:
        web.become("work", takes=TAKES, capacity=USUAL)
        run.produce("--count", RECORDS, "--size", 100)
        run.produce_meanwhile("--rate", RATE, "--size", 100)
        story = Story(run, web)
        play(story)
        written = sum(end for low, end in run.watermarks().values())
        done = {(one["partition"], one["offset"]) for one in web.requests() if one["status"] == 204}
        expect_equal(written, len(done), "records that the web service has done")
    finally:
        web.close()
    run.judge(Promises(stopped_clean=True), letters=[run.topic + "-dlt"])
    expect_equal([], run.evidence.copies["dead_letter"], "dead letters")


if __name__ == "__main__":
    harness.main("adaptive_outage", scenario)
