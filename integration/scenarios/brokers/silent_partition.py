"""A partition falls silent: its fetches are not answered, everything else is. Others go on, and steps are taken one after another.

`heals`: the silence ends when the group has been left and joined again. `restarts`: it does not, and the service ends for a restart.
`outage`: in a silence the leader does not answer any more, for longer than the next step would take; no step is taken then. `markers`:
a log ends in an open transaction, then in the markers of one that has ended; nothing of that is silence.
"""
import json
import sys

import harness
from harness import Promises, expect, expect_equal, wait_until
from silent_fetches import SilentFetches

SILENT = 0
OTHERS = "1,2"
FETCH, LIST_OFFSETS = 1, 2
# The steps come after 1, 2, 4 and 8 times half of it.
QUICK = {"socket.timeout.ms": 3000}
STEPS = ("seek", "pause", "rejoin", "restart")


def steps(service):
    return {step: service.metric("partition_silence_steps_total", step=step) for step in STEPS}


def silent_lanes(service):
    return [lane["partition"] for lane in json.loads(service.get("/status"))["lanes"] if "silent_seconds" in lane]


def begin(run, proxy):
    """A service that has done what there is; its records come by the proxy."""
    run.create(3)
    run.watch_commits()
    run.produce("--count", 300)
    service = run.service("service", kafka={"bootstrap.servers": proxy.bootstrap(), **QUICK})
    run.wait_for_progress(service, 300)
    return service


def fall_silent(run, proxy):
    """Writers go on, to the partition that is silent as well."""
    proxy.silent = frozenset({SILENT})
    wait_until("the partition is left out of a fetch", lambda: proxy.left_out > 0)
    run.produce("--count", 30, "--partitions", SILENT)
    run.produce_meanwhile("--rate", 50, "--partitions", OTHERS)


def others_go_on(run, service):
    run.wait_for_progress(service, service.processed() + 20)


def wait_for_step(service, step):
    wait_until(f"the step is taken: {step}", lambda: steps(service)[step] == 1)


def logged_steps(service):
    return [step for line in service.events("partition silent") for step in STEPS if f"step={step} " in line]


def heals(run):
    with SilentFetches(run.bootstrap) as proxy:
        service = begin(run, proxy)
        fall_silent(run, proxy)
        wait_for_step(service, "seek")
        wait_until("the status says which lane is silent", lambda: silent_lanes(service) == [SILENT])
        others_go_on(run, service)
        wait_for_step(service, "rejoin")
        wait_until("the service starts over", lambda: service.events("starting over to read a silent partition"))
        proxy.silent = frozenset()
        others_go_on(run, service)
        run.finish_writing()
        run.wait_for_no_lag()
        expect_equal({"seek": 1, "pause": 1, "rejoin": 1, "restart": 0}, steps(service), "steps")
        expect_equal([], silent_lanes(service), "lanes that are still silent")
        expect_equal(["seek", "pause", "rejoin"], logged_steps(service), "steps in the log")
        service.stop()
    run.judge(Promises(stopped_clean=True))


def restarts(run):
    with SilentFetches(run.bootstrap) as proxy:
        service = begin(run, proxy)
        fall_silent(run, proxy)
        before = service.processed()
        expect_equal(70, service.wait(harness.PATIENCE), "exit code")
        expect_equal(list(STEPS), logged_steps(service), "steps in the log")
        expect(f"{run.topic}:{SILENT} has delivered nothing for" in service.log, "the log does not say which partition")
        expect(service.processed() > before + 100, "the other partitions did not go on")
        run.services.remove(service)  # from those that may end with no other code
        proxy.silent = frozenset()
        successor = run.service("successor", kafka={"bootstrap.servers": proxy.bootstrap(), **QUICK})
        run.finish_writing()
        run.wait_for_no_lag()
        run.services.append(service)
        successor.stop()
    run.judge(Promises(stopped_clean=True))


def outage(run):
    with SilentFetches(run.bootstrap) as proxy:
        service = begin(run, proxy)
        fall_silent(run, proxy)
        wait_for_step(service, "seek")
        hanging = proxy.hold((FETCH, LIST_OFFSETS), client="laneway", answers=True)
        wait_until("the leader does not answer", lambda: questions(hanging) >= 2)
        before = steps(service)
        wait_until("the leader has been asked for long", lambda: questions(hanging) >= 6)
        expect_equal(before, steps(service), "steps in an outage")
        proxy.silent = frozenset()
        proxy.release(hanging)
        run.finish_writing()
        run.wait_for_no_lag()
        expect_equal(0, steps(service)["restart"], "restarts")
        service.stop()
    run.judge(Promises(stopped_clean=True))


def markers(run):
    with SilentFetches(run.bootstrap) as proxy:
        service = begin(run, proxy)
        # One transaction that stays open for as long as the writer writes: nothing of it may be read.
        run.produce_meanwhile("--rate", 20, "--per-transaction", 100000, verb="produce-transactional")
        wait_until("the client sees that the log goes on", lambda: service.metric("lane_lag_records") > 30)
        ask_for_long(proxy)
        run.finish_writing()
        run.wait_for_no_lag()
        ask_for_long(proxy)
        expect_equal(dict.fromkeys(STEPS, 0), steps(service), "steps")
        service.stop()
    run.judge(Promises(stopped_clean=True))


def ask_for_long(proxy):
    """Until each partition has been asked about at least as often as a step takes."""
    asked = proxy.delay(0, (LIST_OFFSETS,), client="laneway")
    wait_until("the leader has answered for long", lambda: questions(asked) >= 24)
    proxy.release(asked)


def questions(rule):
    return sum(request.api == LIST_OFFSETS for request in rule.caught)


STORIES = {"heals": heals, "restarts": restarts, "outage": outage, "markers": markers}



if __name__ == "__main__":
    harness.main(f"silent-partition-{sys.argv[1]}", STORIES[sys.argv[1]])
