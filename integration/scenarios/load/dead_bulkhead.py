"""Two pools with a downstream each, at the shipped settings: one is dead, and the other does not notice.

usage: dead_bulkhead HANDLER [LENGTH], where HANDLER is http, exec or plugin, and LENGTH such as 60s (the default) or 3m. While one
downstream refuses every record, the service is stopped and started, and killed and started; then the downstream works again.
"""
import contextlib
import sys

import harness
import isolation
from downstream import Downstream
from harness import PLUGINS, expect, expect_equal
from isolation import MINUTE, Proof
from tools.demo.flow import SECOND, Flow, in_time

PARTITIONS, RATE, WORKERS = 4, 40, 4  # records a second of each pool
HEALTHY, SICK = "healthy", "sick"
DIES, TERM, KILL, BACK = 0.1, 0.35, 0.6, 0.8  # of the length
KILLED = "kill -9 and start"
PARKED_AT_ONCE = 12 * RATE  # a new process parks what has waited for lanes.park_after, and may be killed before it commits that


def handler_of(kind, web):
    if kind == "exec":
        return {"exec": {"command": [sys.executable, str(harness.INTEGRATION / "framework" / "forwarder.py"), web.url, web.authority]}}
    if kind == "plugin":
        return {"plugin": {"library": str(PLUGINS / "forward.so"), "config": {"url": web.url, "authority": web.authority}}}
    return {"http": {"url": web.url, "ca_file": web.authority}}


def service(run, kind, webs, name):
    pools = {pool: {"workers": WORKERS, "handler": handler_of(kind, web)} for pool, web in webs.items()}
    started = run.service(name, kafka=harness.SHORT_SESSION, handler=None, lanes={"drain": None}, commit={"interval": None}, pools=pools,
                          route={"by": "header:pool", "pools": {HEALTHY: HEALTHY}, "default": SICK})
    started.settings["lanes"] = {"drain": "20s"}  # the default, for stop
    return started


def scenario(run):
    kind, seconds = sys.argv[1], isolation.length(sys.argv[2] if len(sys.argv) > 2 else "60s")
    with contextlib.ExitStack() as cleanup:
        webs = {}
        for name in (HEALTHY, SICK):
            folder = run.folder / f"web-{name}"
            folder.mkdir()
            webs[name] = Downstream(folder, name, tls=True)
            cleanup.callback(webs[name].close)
        proof = Proof(run, seconds, every=2)
        run.create(PARTITIONS)
        first = service(run, kind, webs, "first")
        proof.has_lanes(PARTITIONS, first)
        for pool in webs:
            proof.write(pool, RATE, "--header", f"pool={pool}", "--keys", 100, "--size", 1000)
        run.wait_for_progress(first, len(webs) * PARTITIONS * WORKERS * 2)  # its programs have started
        proof.begin()
        cleanup.callback(proof.end)
        last = play(run, kind, webs, proof, first)
        proof.end()
        expect_equal(0, last.metric("dead_letters_total"), "dead letters")
        last.stop()
        judge(proof, webs)


def play(run, kind, webs, proof, first):
    """The acts; returns the service that is left."""
    proof.until(DIES)
    webs[SICK].become("503")
    proof.moment("dies")
    proof.until(TERM)
    with proof.act("SIGTERM and start", down=True):
        first.stop()
        second = service(run, kind, webs, "second")
        proof.has_lanes(PARTITIONS, second)
    proof.until(KILL)
    with proof.act(KILLED, down=True):
        second.kill()
        third = service(run, kind, webs, "third")
        proof.has_lanes(PARTITIONS, third)
    proof.until(BACK)
    proof.moment("back")
    webs[SICK].become("work")
    proof.until(1)
    proof.finish_writing()
    proof.drain([run.topic, *run.parking], within=12 * MINUTE)
    return third


def flow_of(proof, name, web):
    done = [one for one in web.requests() if one["status"] == 204]
    return Flow(name, proof.offered([name]), [((one["topic"], one["partition"], one["offset"]), one["ended"]) for one in done])


def judge(proof, webs):
    """Prints every figure before the first expectation fails."""
    healthy, sick = (flow_of(proof, name, webs[name]) for name in (HEALTHY, SICK))
    wrong = [*isolation.told_rates(proof, [healthy]), *isolation.told_repeats(proof, [healthy], KILLED, RATE, probes=0),
             *isolation.told_repeats(proof, [sick], KILLED, RATE + PARKED_AT_ONCE / isolation.UNCOMMITTED, probes=0),
             *isolation.told_commits(proof), *isolation.told_memory(proof), *isolation.told_completeness(proof, [healthy, sick])]
    dies, back = proof.moments["dies"], proof.moments["back"]
    waited = in_time(sick.offered, dies, back)
    last = max((sick.first[place] - back) / SECOND for place in waited if place in sick.first)
    print(f"{len(waited)} records came to {SICK} while it was dead for {(back - dies) / SECOND:.0f} s; the last one was done {last:.1f} s "
          "after it was back")
    expect(not wrong, "\n".join(wrong))


if __name__ == "__main__":
    harness.main("dead-bulkhead", scenario)
