"""A partition falls silent: its fetches are not answered, everything else is. Others go on, and steps are taken one after another.

`heals`: the silence ends when the group has been left and joined again. `restarts`: it does not, and the service ends for a restart.
`outage`: the leader answers neither fetches nor questions, for longer than the first steps would take; that is no silence. `markers`:
a log ends in an open transaction, then in the markers of one that has ended; nothing of that is silence either.
"""
import sys

import harness
from harness import ROOT, Promises, expect, expect_equal, wait_until

sys.path.insert(0, str(ROOT / "integration" / "proxy"))
from silent_fetches import SilentFetches  # noqa: E402

SILENT = 0
OTHERS = "1,2"
FETCH, LIST_OFFSETS = 1, 2
# The steps come after 1, 2, 4 and 8 times half of it.
QUICK = {"socket.timeout.ms": 3000}
STEPS = ("seek", "pause", "rejoin", "restart")


def steps(service):
    return {step: service.metric("partition_silence_steps_total", step=step) for step in STEPS}


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


def wait_for_step(run, service, step):
    wait_until(f"the step is taken: {step}", lambda: service.metric("partition_silence_steps_total", step=step) == 1)
    expect(f"step={step}" in service.events("partition silent")[-1], "a step that is not in the log")
    others_go_on(run, service)


def heals(run):
    with SilentFetches(run.bootstrap) as proxy:
        service = begin(run, proxy)
        fall_silent(run, proxy)
        for step in STEPS[:3]:
            wait_for_step(run, service, step)
        wait_until("the service starts over", lambda: service.events("starting over to read a partition that is silent"))
        proxy.silent = frozenset()
        run.finish_writing()
        run.wait_for_no_lag()
        expect_equal({"seek": 1, "pause": 1, "rejoin": 1, "restart": 0}, steps(service), "steps")
        service.stop()
    run.judge(Promises(stopped_clean=True))


def restarts(run):
    with SilentFetches(run.bootstrap) as proxy:
        service = begin(run, proxy)
        fall_silent(run, proxy)
        for step in STEPS[:3]:
            wait_for_step(run, service, step)
        expect_equal(70, service.wait(harness.PATIENCE), "exit code")
        expect(f"{run.topic}[{SILENT}] has delivered nothing for" in service.log, "the log does not say which partition")
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
        hanging = proxy.hold((FETCH, LIST_OFFSETS), client="laneway", answers=True)
        run.produce("--count", 30)
        wait_until("the leader has been asked for long", lambda: questions(hanging) >= 4)
        proxy.release(hanging)
        run.wait_for_no_lag()
        expect_equal(dict.fromkeys(STEPS, 0), steps(service), "steps")
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
    wait_until("the leader has answered for long", lambda: questions(asked) >= 36)
    proxy.release(asked)


def questions(rule):
    return sum(request.api == LIST_OFFSETS for request in rule.caught)


STORIES = {"heals": heals, "restarts": restarts, "outage": outage, "markers": markers}



if __name__ == "__main__":
    harness.main(f"silent-partition-{sys.argv[1]}", STORIES[sys.argv[1]])
