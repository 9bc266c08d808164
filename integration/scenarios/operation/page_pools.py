"""The web page of a service with two pools, the downstream of one and a subscriber of the other down, in a real browser: both pools
are there, the one that is out is named, also by the lanes, and so is the subscriber; at 390 and 1,280 pixels. `laneway status` shows
the same, and the log speaks of no held lane. A second service parks what waits, and the page shows how much and since when.
"""
import json
import re
import subprocess

import harness
from browser import Browser
from downstream import Downstream
from harness import LANEWAY, expect, expect_equal, wait_until
from page_planted import cells, figures, order, states
from web_service import WebService

PARTITIONS, RATE, ENOUGH = 2, 40, 200  # records a second of each pool; records that show that a pool goes on
WIDTHS = (390, 1280)
FAILING = b'{"to":"legacy"}'
PROBES = 10  # records that the service keeps to try again, at most
DELAY = "1h"  # of the topic of parked records: these do not come back while the page is read


class Receivers(WebService):
    """The subscribers, of which one never works."""

    def judge(self, _, body):
        return 503 if body == FAILING else 204


def settings_of(receivers, billing, **changes):
    breaker = {"failures": 3, "probe": "1s"}
    hooks, bills = ({"workers": 4, "queue": 16, "breaker": breaker, "handler": {"http": {"url": url}}}
                    for url in (receivers.url(), f"{billing.url}/billing"))
    # Nothing is parked, so that what waits for the pool that is out stays on the page for as long as a slow browser needs.
    return {"handler": None, "lanes": {"park_after": "0s"}, "retry": {"max_backoff": "1s"}, "route": {"by": "header:kind", "pools": {"hooks": "hooks"}, "default": "billing"},
            "pools": {"hooks": {**hooks, "each": {"by": "value:/to", "workers": 4}}, "billing": bills}, **changes}


def scenario(run):
    run.create(PARTITIONS)
    receivers, billing = Receivers(), Downstream(run.folder, "billing")
    browser = Browser(run.folder)
    try:
        service = run.service("service", **settings_of(receivers, billing))
        run.produce_meanwhile("--rate", RATE, "--header", "kind=bill")
        run.produce_meanwhile("--rate", RATE, "--header", "kind=hooks", "--value", '{"to":"audit"}')
        run.wait_for_progress(service, ENOUGH)
        browser.open(service.url() + "/", 1280)
        shows_both_pools(browser)
        billing.become("refuse")
        shows_the_one_that_is_out(browser)
        run.produce("--count", 40, "--header", "kind=hooks", "--value", FAILING.decode())
        shows_the_subscriber(browser)
        the_other_goes_on(service)
        shows_it_in_the_terminal(service)
        says_it_in_the_log(service)
        billing.become("work")
        receivers.judge = lambda *_: 204
        for width in WIDTHS:
            browser.look(width)
            wait_until(f"no pool is out at {width} pixels", lambda: figures(browser)["Breaker"] == "closed")
        wait_until("no lane waits for a pool", lambda: set(states(browser)) == {"running: state good"})
        browser.open("about:blank")
        service.stop()
        shows_what_is_parked(run, browser, receivers, billing)
        expect_equal([], browser.complaints, "complaints of the browser")
        run.finish_writing()
        run.wait_for_no_lag([run.topic, f"{run.topic}-retry-{DELAY}"])
    finally:
        browser.close()
        billing.close()


def shows_both_pools(browser):
    for width in WIDTHS:
        browser.look(width)
        wait_until(f"both pools are there at {width} pixels", lambda: order(browser, "pool") == ["hooks", "billing"])
        expect_equal(["closed: state good"] * 2, states(browser, "pool"), "breakers")
    # At the start audit may be at its limit, until it has caught up.
    wait_until("no subscriber is in trouble", lambda: browser.text("#subscribers") == "")


def queue_of(lane):
    return [int(number.replace(",", "")) for number in lane["Queued"].split("/")]


def shows_the_one_that_is_out(browser):
    wait_until("the pool that is out comes first", lambda: order(browser, "pool") == ["billing", "hooks"])
    wait_until("enough records wait for it", lambda: float(cells(browser, "billing", "pool")["Waiting"].replace(",", "")) > ENOUGH)
    for width in WIDTHS:
        browser.look(width)
        expect_equal(width, browser.evaluate("document.documentElement.scrollWidth"), f"width of all at {width} pixels")
        expect("out since" in browser.text("#pool-table"), f"what is wrong, at {width} pixels: {browser.text('#pool-table')}")
        expect(states(browser, "pool")[0] in ("open: state bad", "half open: state bad"), f"states: {states(browser, 'pool')}")
        expect(states(browser, "pool")[1].startswith("closed: "), f"state of the pool that works: {states(browser, 'pool')}")
        for lane in order(browser):
            shown = cells(browser, lane)
            queued, capacity = queue_of(shown)
            expect(queued <= capacity, f"the queue of {lane} at {width} pixels: {shown}")
        expect(all(state.endswith(("warn", "bad")) for state in states(browser)), f"lanes at {width} pixels: {states(browser)}")
        expect("the pool billing is out: " in browser.text("#lane-table"), f"what the lanes wait for at {width} pixels")
    expect_equal("1/2 out", figures(browser)["Breaker"], "the tile of the breakers")
    expect(" of the pool billing " in browser.text("#reasons"), f"the banner: {browser.text('#reasons')}")
    expect("The breaker of the pool billing (" in browser.text("#events"), f"the timeline: {browser.text('#events')}")


def shows_the_subscriber(browser):
    wait_until("the subscriber is out", lambda: order(browser, "subscriber") == ["legacy"])
    for width in WIDTHS:
        browser.look(width)
        expect_equal(width, browser.evaluate("document.documentElement.scrollWidth"), f"width of all at {width} pixels")
        expect_equal("hooks", cells(browser, "legacy", "subscriber")["Pool"], f"the subscriber's pool at {width} pixels")
        expect_equal("1/2", cells(browser, "hooks", "pool")["Subscribers out"], f"subscribers of the pool at {width} pixels")
        expect("HTTP 503" in browser.text("#subscriber-table"), f"why, at {width} pixels: {browser.text('#subscriber-table')}")
        expect_equal([], browser.accessibility_violations(), f"violations at {width} pixels")


def pools_of(service):
    return {pool["name"]: pool for pool in json.loads(service.get("/status"))["pools"]}


def the_other_goes_on(service):
    before = service.metric("named_pool_attempts_total", pool="hooks")
    wait_until("the other pool goes on", lambda: service.metric("named_pool_attempts_total", pool="hooks") >= before + ENOUGH)
    expect(pools_of(service)["billing"]["breaker"]["since"], "the pool is not out any more")


def shows_it_in_the_terminal(service):
    table = subprocess.check_output([LANEWAY, "status", "--admin", service.url().removeprefix("http://")], text=True).splitlines()
    first = next(index for index, line in enumerate(table) if line.startswith("pool ")) + 1
    expect_equal(["billing", "hooks"], [line.split()[0] for line in table[first:first + 2]], "pools of laneway status")
    for words in ("the pool billing: out since ", "the pool billing is out: ", "hooks: legacy ("):
        expect(any(words in line for line in table), f"{words!r} is not in: {table}")


def says_it_in_the_log(service):
    opened = service.events("breaker open")
    for words in ('pool=billing hint="records of this pool wait', 'pool=hooks hint="records of this subscriber wait'):
        expect(any(words in line for line in opened), f"{words!r} is not in: {opened}")
    expect("lanes are held" not in service.log, "the log speaks of held lanes")


def shows_what_is_parked(run, browser, receivers, billing):
    """Of a pool and of a subscriber that are out, until both are back and an operator sends the parked records on."""
    service = run.service("parking", **settings_of(receivers, billing, lanes={"park_after": "2s"}, retry={"topics": [DELAY]},
                                                   dead_letter={"topic": run.topic + "-dlt"}))
    run.wait_for_progress(service, ENOUGH)
    browser.open(service.url() + "/", 1280)
    billing.become("refuse")
    receivers.judge = lambda _, body: 503 if body == FAILING else 204
    run.produce("--count", ENOUGH, "--header", "kind=hooks", "--value", FAILING.decode())
    for width in WIDTHS:
        browser.look(width)
        for name, table in (("billing", "pool"), ("legacy", "subscriber")):
            wait_until(f"parked records of {name} at {width} pixels", lambda name=name, table=table: parked(browser, name, table) >= ENOUGH - PROBES)
        expect_equal(width, browser.evaluate("document.documentElement.scrollWidth"), f"width of all at {width} pixels")
        expect_equal([], browser.accessibility_violations(), f"violations at {width} pixels")
    billing.become("work")
    receivers.judge = lambda *_: 204
    run.produce_meanwhile("--rate", 5, "--header", "kind=hooks", "--value", FAILING.decode())  # some of them are probes
    wait_until("both are back", lambda: figures(browser)["Breaker"] == "closed" and "out since" not in browser.text("#subscriber-table"))
    subprocess.run([LANEWAY, "send-on", "--admin", service.url().removeprefix("http://")], check=True, stdout=subprocess.DEVNULL)
    wait_until("nothing is parked", lambda: cells(browser, "billing", "pool")["Parked"] == "0" and browser.text("#subscribers") == "")


def parked(browser, name, table):
    """How many records the page shows; next to the number it has how long the oldest has waited."""
    if name not in order(browser, table):
        return 0
    found = re.fullmatch(r"([\d,]+), \d+ (?:ms|s|min)", cells(browser, name, table)["Parked"])
    return int(found[1].replace(",", "")) if found else 0


if __name__ == "__main__":
    harness.main("page_pools", scenario)
