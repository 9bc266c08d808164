"""Three tenants, each with a pool and a web service of its own: that of one refuses connections, while another member joins. The
records of the others go through meanwhile, and those of the one are parked; afterwards each record of each tenant is done once.
"""
import contextlib
import json
import time

import harness
from downstream import Downstream
from harness import PATIENCE, Promises, expect, expect_equal, wait_until

PARTITIONS, RATE = 4, 50  # records a second of each tenant
DOWN, HEALTHY = "acme", ("beta", "gamma")
OUTAGE = 30  # s: what was parked comes back after 10 s, and then after a minute
ENOUGH = 10 * RATE  # records of each healthy tenant


class Story:
    def __init__(self, run, webs):
        self.run, self.webs, self.members = run, webs, []

    def join(self, name):
        pools = {tenant: {"workers": 4, "queue": 16, "breaker": {"probe": "1s"}, "handler": {"http": {"url": f"{web.url}/{tenant}"}}}
                 for tenant, web in self.webs.items()}
        self.members.append(self.run.service(name, handler=None, pools=pools, route={
            "by": "header:tenant", "pools": {tenant: tenant for tenant in self.webs}, "default": DOWN}))

    def successes(self, pool):
        """When the records of this pool were done, by the members' journals, in ns since 1970."""
        lines = [json.loads(line) for member in self.members if member.journal.exists()
                 for line in member.journal.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [line["end"] for line in lines if line["pool"] == pool and line["outcome"] == "success"]

    def goes_on(self, tenants, until=0.0):
        """Each of the tenants has enough more records done, and the time has come."""
        wanted = {tenant: len(self.successes(tenant)) + ENOUGH for tenant in tenants}
        wait_until(f"{' and '.join(tenants)} have {ENOUGH} more records done", lambda: time.monotonic() >= until
                   and all(len(self.successes(tenant)) >= count for tenant, count in wanted.items()), every=0.5)

    def outage(self):
        """The times of its begin and its end, in ns since 1970."""
        self.webs[DOWN].become("refuse")
        until = time.monotonic() + OUTAGE
        wait_until("a breaker is open", lambda: self.members[0].metric("breaker_state") > 0)
        begin = time.time_ns()  # whatever was answered before is in the journal by now
        self.goes_on(HEALTHY)
        self.join("second")
        wait_until("the second member has work", lambda: self.members[1].processed() >= ENOUGH)
        self.goes_on(HEALTHY, until)
        end = time.time_ns()
        self.webs[DOWN].become("work")
        return begin, end


def play(story):
    run = story.run
    run.create(PARTITIONS)
    for tenant in story.webs:
        run.produce_meanwhile("--rate", RATE, "--keys", 100, "--header", f"tenant={tenant}")
    run.watch_commits(every=2.0)
    story.join("first")
    story.goes_on(story.webs)
    begin, end = story.outage()
    story.goes_on([DOWN])
    run.finish_writing()
    run.wait_for_no_lag([run.topic, *run.parking], within=2 * PATIENCE)
    expect(sum(member.metric("parked_total") for member in story.members) > RATE, "nothing was parked")
    for member in story.members:
        member.stop()
    during = {tenant: sum(begin < time < end for time in story.successes(tenant)) for tenant in story.webs}
    print(f"done in the {(end - begin) / 1e9:.0f} s of the outage: {during}", flush=True)
    expect_equal(0, during[DOWN], f"records of {DOWN} that are done although nobody took them")
    written = sum(end for low, end in run.watermarks().values())
    requests = [one for web in story.webs.values() for one in web.requests() if one["status"] == 204]
    expect_equal(written, len(requests), "requests that the web services have done")
    expect_equal(written, len({(one["partition"], one["offset"]) for one in requests}), "records that the web services have done")


def scenario(run):
    with contextlib.ExitStack() as cleanup:
        webs = {}
        for tenant in (DOWN, *HEALTHY):
            webs[tenant] = Downstream(run.folder, tenant)
            cleanup.callback(webs[tenant].close)
        play(Story(run, webs))
    run.judge(Promises(stopped_clean=True), [run.topic, *run.parking], retries=run.parking)


if __name__ == "__main__":
    harness.main("tenant_down", scenario)
