"""A retry topic is deleted while records are parked in it, and made anew: the other pool goes on and is committed meanwhile, what cannot
be parked stays in its lane, and the records that are written to the new topic all run, although it has grown past the old offsets at
once. Only what was in the topic when it was deleted is lost.
"""
import contextlib
import json

import harness
from downstream import Downstream
from harness import PATIENCE, expect, expect_equal, wait_until

PARTITIONS, RATE = 4, 40  # records a second of each pool
DELAYS = ("2s", "20s")
PARKED = 50  # records in the topic that is deleted


class Story:
    def __init__(self, run, webs):
        self.run, self.webs = run, webs
        self.topics = [f"{run.topic}-retry-{delay}" for delay in DELAYS]
        self.gone = self.topics[-1]
        run.create(PARTITIONS)
        pools = {name: {"workers": 4, "queue": 16, "breaker": {"probe": "1s"}, "handler": {"http": {"url": web.url}}}
                 for name, web in webs.items()}
        self.service = run.service("service", handler=None, pools=pools, lanes={"park_after": "2s"}, retry={"topics": list(DELAYS)},
                                   dead_letter={"topic": "{topic}-dlt"}, route={"by": "header:pool", "pools": {"alive": "alive"},
                                                                               "default": "dead"})

    def lanes(self, topic):
        return [lane for lane in json.loads(self.service.get("/status"))["lanes"] if lane["topic"] == topic]

    def committed(self):
        """Of the topic itself, as the service knows."""
        return sum(lane["committed"] for lane in self.lanes(self.run.topic))

    def in_topic_that_goes(self):
        """The origins of its records."""
        headers = [dict(record["headers"]) for record in map(json.loads, self.run.tool("read", self.gone))]
        return {(int(one["laneway-retry-partition"]), int(one["laneway-retry-offset"])) for one in headers}

    def done(self, pool):
        return [(one["partition"], one["offset"]) for one in self.webs[pool].requests() if one["status"] == 204]


def play(story):
    run, service = story.run, story.service
    for name in story.webs:
        run.produce_meanwhile("--rate", RATE, "--header", f"pool={name}")
    wait_until("both work", lambda: all(len(story.done(name)) > RATE for name in story.webs))
    story.webs["dead"].become("refuse")
    wait_until("records are parked", lambda: sum(end for _, end in run.watermarks([story.gone]).values()) > PARKED)
    lost = story.in_topic_that_goes()
    run.tool("delete", story.gone)
    wait_until("the lanes say that their topic is gone", lambda: all(
        "does not exist" in lane.get("source_error", "") for lane in story.lanes(story.gone)))
    expect(service.events("record not parked, waits in its lane"), "nothing was to be parked in the topic that is gone")
    before = story.committed()
    wait_until("the commits of the topic itself go on", lambda: story.committed() > before + 5 * RATE)
    run.create(PARTITIONS, topic=story.gone)
    wait_until("records are parked in the new topic", lambda: sum(end for _, end in run.watermarks([story.gone]).values()) > 5 * PARKED)
    story.webs["dead"].become("work")
    run.finish_writing()
    run.wait_for_no_lag([run.topic, *story.topics], within=2 * PATIENCE)
    service.stop()
    everything = {(partition, offset) for (_, partition), (_, end) in run.watermarks().items() for offset in range(end)}
    done = {name: story.done(name) for name in story.webs}
    missing = everything - {place for places in done.values() for place in places}
    print(f"{len(lost)} records were in the topic when it was deleted, and {len(missing)} of {len(everything)} are not done", flush=True)
    late = missing - lost
    expect(len(late) <= PARTITIONS * RATE // 10, f"records that were not in the deleted topic are lost: {sorted(late)[:20]}")
    expect_equal(len(set(done["alive"])), len(done["alive"]), "requests of the pool that lives")


def scenario(run):
    with contextlib.ExitStack() as cleanup:
        webs = {}
        for name in ("alive", "dead"):
            webs[name] = Downstream(run.folder, name)
            cleanup.callback(webs[name].close)
        play(Story(run, webs))


if __name__ == "__main__":
    harness.main("parked-topic-gone", scenario)
