"""The web page in a real browser with answers that are planted: each number in its place, the history, outages, order, keyboard,
and what axe-core, the accessibility checker, finds at 390 and 1,280 pixels, light and dark.

LANEWAY_KEEP=1 keeps the pictures of the page in these four, beside the logs.
"""
import json

import harness
from browser import Browser
from harness import expect, expect_equal, wait_until
from page_planted import (EVENTS, cells, figures, heights, history, lane, marks, order, pool, reason, states, status, subscriber,
                          three_hours)

LOOKS = [(width, scheme) for width in (390, 1280) for scheme in ("light", "dark")]
SHOWN_ALL = "document.querySelector('#lag-chart').getAttribute('aria-valuemax') > 2100"
EVIL = "<img src=x onerror='window.stolen=1'><script>window.stolen=2</script>"
TURNED = "\u202egnp.\u2066\u200f\x1b"  # marks that turn the direction of text
AS_SHOWN = "\\u202egnp.\\u2066\\u200f\\u001b"


class Page:
    def __init__(self, browser, url):
        self.browser = browser
        browser.plant("/status", status(lane(0)))
        browser.plant("/history", history(three_hours(), EVENTS))
        browser.open(url, 1280)

    def show(self, found, past=None):
        """Plants these answers; returns when the page shows them."""
        self.browser.plant("/history", past or history([], last=len(three_hours()) + len(EVENTS)))
        self.browser.plant("/status", found)
        version = f"{json.loads(found)['version'].replace(TURNED, AS_SHOWN)}, up"
        wait_until("the page shows the planted status", lambda: version in self.browser.text("#about"))

    def wait_for_text(self, selector, words):
        wait_until(f"{selector} shows {words!r}", lambda: words in self.browser.text(selector))


def scenario(run):
    run.create(1)
    service = run.service("service")
    browser = Browser(run.folder)
    try:
        page = Page(browser, service.url() + "/")
        shows_the_past(page)
        reads_the_charts(page)
        shows_each_number_in_its_place(page)
        keeps_the_order(page)
        shows_pools(page)
        shows_one_banner_for_an_outage(page)
        has_figures_in_line_and_no_hole(page)
        is_used_by_keyboard(page)
        is_accessible(page, run.folder)
        survives_a_restart(page)
        expect_equal([], browser.complaints, "complaints of the browser")
        shows_anything(page)
    finally:
        browser.close()


def shows_the_past(page):
    """The history is there when the page is opened, and marks, tile and timeline agree after a lane has gone."""
    browser = page.browser
    page.wait_for_text("#events", "The breaker of shop:443 is open: HTTP 503")
    expect_equal(len(EVENTS), browser.evaluate("document.querySelectorAll('#events li').length"), "events")
    expect_equal(0, marks(browser, "ready"), "outages within the last hour")
    browser.click("input[name=range][value='360']")
    browser.wait("three hours are shown", SHOWN_ALL)
    expect_equal((1, 1, 2, 2), tuple(marks(browser, strip) for strip in ("ready", "breaker", "dead-letter", "rebalance")), "marks")
    marked = browser.evaluate("""[...document.querySelectorAll('#dead-letter-strip rect')]
        .reduce((sum, mark) => sum + Number(mark.dataset.count), 0)""")
    expect_equal((7, "7"), (marked, figures(browser)["Dead letters"]), "dead letters: at the marks, and in the tile")
    labels = browser.evaluate("[...document.querySelectorAll('#lag-times span')].map((label) => label.textContent)")
    expect(len(labels) >= 3 and all(label.endswith((":00", ":30")) for label in labels), f"labels of the time axis: {labels}")
    expect_equal(["15,000", "7,500", "0"], browser.evaluate("[...document.querySelector('#lag-axis').children].map((one) => one.textContent)"),
                 "labels of the lag's axis")


def tip(browser, chart):
    return browser.text(f"#{chart}-chart .tip")


def reads_the_charts(page):
    """By mouse, by keyboard, by finger: the values of one moment in all charts."""
    browser = page.browser
    browser.hover("#rate-chart", 0.37)  # in the outage, which is from a third to 39 % of the time
    page.wait_for_text("#rate-chart .tip", ": 0.0/s")
    expect("not ready, breaker open" in tip(browser, "strip"), f"what the strip says: {tip(browser, 'strip')}")
    browser.hover("h1", 0.5)
    wait_until("the mouse has left", lambda: tip(browser, "rate") == "")
    browser.evaluate("document.querySelector('#strip-chart').focus()")
    value = "document.querySelector('#strip-chart').getAttribute('aria-valuetext')"
    browser.press("Home")
    first = browser.evaluate(value)
    expect("ready, breaker closed" in first and tip(browser, "strip") == first, f"the first sample, by keyboard: {first}")
    browser.press("ArrowRight")
    expect(browser.evaluate(value) != first, "the arrow key leads nowhere")
    browser.press("PageDown")
    expect_equal(first, browser.evaluate(value), "the value after a step and a page back")
    expect_equal("0", browser.evaluate("document.querySelector('#strip-chart').getAttribute('aria-valuenow')"), "value now")
    browser.press("Escape")
    expect_equal("", tip(browser, "strip"), "the tip after Escape")
    browser.look(390)
    browser.touch("#lag-chart", 0.9)
    page.wait_for_text("#lag-chart .tip", ":")
    browser.touch("h1", 0.5)
    wait_until("another touch ends it", lambda: tip(browser, "lag") == "")
    browser.look(1280)


def shows_what_is_over(page):
    """An error that is over is no error any more: beside dead letters it stays, but is not marked."""
    browser = page.browser
    first, second = ({**lane(partition)["last_error"], "over": True} for partition in (0, 1))
    page.show(status(lane(0, last_error=first), lane(1, last_error=second, dead_letters=3), version="over"))
    expect("orders:0:9870" not in browser.text("#lane-table"), "an error that is over is shown")
    expect("3 dead letters since the assignment · last error at" in browser.text("#lane-table"), "the error beside dead letters")
    marked = browser.evaluate("[...document.querySelectorAll('#lane-table .error-text')].map((one) => one.textContent).join('')")
    expect_equal("", marked, "what is marked as an error")


def shows_each_number_in_its_place(page):
    browser = page.browser
    page.show(status(lane(0), lane(1, lag=766), version="2"))
    expect_equal({"Lag": "1,234", "Beyond commit": "31", "Running": "3/8", "Queued": "17/64", "Waiting": "5", "Oldest": "42 s",
                  "Committed": "9,876", "Records/s": "75,000", "Dead letters/s": "2.5"}, cells(browser, "orders:0"), "cells")
    expect("record orders:0:9870 (attempt 8): HTTP 503" in browser.text("#lane-table"), "the last error is missing")
    shows_what_is_over(page)
    page.show(status(lane(0), lane(1, lag=766), version="2"))
    expect_equal("The downstream shop:443 fails for 3 % of calls: HTTP 500 (12).", browser.text("#downstream"), "the downstream")
    expect_equal({"Records/s": "150K", "Lag": "2,000", "Oldest record": "42 s", "Running": "7/16", "Queued": "35", "Waiting": "10",
                  "Dead letters": "7", "Dead letters/s": "5.0", "Breaker": "closed"}, figures(browser), "sums")
    shows_the_limits(page)
    past = [(ago, {"lag": lag, "rate": rate}) for ago, lag, rate in ((40, 2000, 150000), (35, 8000, 150000), (30, 4000, 75000))]
    page.show(status(lane(0, lag=4000), version="3"), history(past, started=2))
    browser.click("input[name=range][value='15']")
    wait_until("the lag's line is drawn", lambda: heights(browser, "lag")[-3:] == [75.0, 0.0, 50.0])
    expect_equal([0.0, 50.0], heights(browser, "rate")[-2:], "heights of the line of the rate, 150,000 and 75,000 of 150,000")
    expect_equal("4,000", browser.text("#lag-now"), "lag beside its chart")


def shows_the_limits(page):
    """Of the downstream, or of each named pool; where the number of workers is fixed, there is no line."""
    browser = page.browser
    expect_equal("", browser.text("#limits"), "limits, where there are none")
    words = "24 calls at once, between 2 and 64; lowered from 38 to 24 at 14:02:11Z: latency rose from 12 ms to 40 ms"
    breaker = {"downstream": "shop:443", "state": "closed", "reason": "", "since": None, "failures": "", "limit": {"limit": 24, "words": words}}
    page.show(status(lane(0), version="2.1", breaker=breaker))
    expect_equal(f"The downstream shop:443 gets {words}.", browser.text("#limits"), "the limit")
    pools = [{"name": "fixed", "breaker": {"state": "closed"}}, {"name": "deliver", "breaker": breaker}]
    page.show(status(lane(0), version="2.2", breaker=breaker, pools=pools))
    expect_equal(f"The pool deliver gets {words}.", browser.text("#limits"), "the limits of pools")


def keeps_the_order(page):
    """Numbers that change all the time do not move a row; trouble does, by its kind."""
    browser = page.browser
    browser.hover("h1", 0.5)
    page.show(status(lane(0, lag=0), lane(1, lag=1), lane(2, lag=0), version="4"))
    expect_equal(["orders:0", "orders:1", "orders:2"], order(browser), "order")
    page.show(status(lane(2, lag=5000, state="held", hold_reasons=[reason("pool_full", "pool full")]), lane(1, lag=0), lane(0, lag=1), version="5"))
    expect_equal(["orders:0", "orders:1", "orders:2"], order(browser), "order, of other lags and with a full queue")
    blocked = lane(3, commits_blocked=True, oldest={"offset": 40, "age_seconds": 90, "place": "waiting", "attempts": 8, "error": "HTTP 500"})
    reasons = [{"code": "stalled", "topic": "orders", "partition": 2, "text": "orders:2: no progress for 60 s"}]
    suspended = lane(1, suspended=True, state="suspended", hold_reasons=[reason("suspended", "suspended", "operator")])
    page.show(status(lane(0), suspended, lane(2), blocked, ready=False, reasons=reasons, version="6"))
    expect_equal(["orders:2", "orders:3", "orders:1", "orders:0"], order(browser), "order, with trouble")
    expect_equal(["running: state bad", "blocked: state warn", "suspended: state warn", "running: state good"], states(browser), "states")
    expect("record orders:3:40 (waiting, attempt 8) blocks the commits: HTTP 500" in " ".join(browser.text("#lane-table").split()),
           f"what blocks the commits: {browser.text('#lane-table')}")


def parked(records, seconds):
    return {"parked": records, "parked_oldest_seconds": seconds}


def pools_in_trouble():
    """Two lanes that wait for one of three pools, and the subscribers of another one: more than the status has."""
    waits = [{"pool": "billing", "waiting": 505, "text": "the pool billing is out: 505 records of this lane wait"}]
    busy = [subscriber(f"busy {number}", waiting=100 - number) for number in range(8)]
    subscribers = {"known": 40, "out": 1, "at_limit": 30, "worst": [subscriber("legacy", "open", waiting=3, **parked(3120, 5000)), *busy]}
    pools = [pool("orders", then="hooks", helped_by=["hooks"]),
             pool("hooks", trouble="1 of 40 subscribers is out", total=5, subscribers=subscribers, **parked(3127, 5000)),
             pool("billing", "half_open", **parked(82_000, 45))]
    lanes = [lane(0), lane(1, queued=23, waiting_for_pools=1010, pools_out=waits,
                           last_error={**lane(1)["last_error"], "error": "refused"})]
    return lanes, {"pools": pools, "breaker": pools[2]["breaker"], "ready": False,
                   "reasons": [{"code": "breaker_open", "text": "the downstream billing:443 of the pool billing fails"}]}


def shows_what_is_parked(browser):
    """A person can read it: nothing is hidden or outside at a small width."""
    for width in (390, 1280):
        browser.look(width)
        for table, words in (("pool", "82,000, 45 s"), ("pool", "3,127, 83 min"), ("subscriber", "3,120, 83 min")):
            shown = browser.text(f"#{table}-table")
            expect(words in shown, f"parked records at {width} pixels: {words!r} is not in {shown}")
        expect_equal(width, browser.evaluate("document.documentElement.scrollWidth"), f"width of all at {width} pixels, with parked records")


def shows_pools(page):
    """Pools and subscribers in trouble come first, and a lane that waits for one is not green."""
    browser = page.browser
    expect_equal(("", ""), (browser.text("#pools"), browser.text("#subscribers")), "pools of a service without named pools")
    lanes, changes = pools_in_trouble()
    page.show(status(*lanes, **changes, version="6.1"))
    expect_equal(["billing", "hooks", "orders"], order(browser, "pool"), "order of the pools")
    expect_equal(["half open: state bad", "closed: state warn", "closed: state good"], states(browser, "pool"), "breakers of the pools")
    expect_equal({"Downstream": "hooks:443", "Running": "3/5", "Queued": "12/512", "Waiting": "1,010", "Parked": "3,127, 83 min",
                  "Retries": "2", "Oldest": "7 s", "Attempts/s": "13", "Subscribers out": "1/40"}, cells(browser, "hooks", "pool"), "cells of a pool")
    for words in ("out since 14:02:11Z: its records wait", "then hooks · helped by hooks"):
        expect(words in browser.text("#pool-table"), f"{words!r} is not in the table of pools: {browser.text('#pool-table')}")
    expect_equal(["legacy", *(f"busy {number}" for number in range(8))], order(browser, "subscriber"), "order of the subscribers")
    expect_equal({"Pool": "hooks", "Running": "1/4", "Waiting": "3", "Parked": "3,120, 83 min"}, cells(browser, "legacy", "subscriber"), "cells of a subscriber")
    shows_what_is_parked(browser)
    expect("why legacy" in browser.text("#subscriber-table"), "why a subscriber is out")
    expect_equal("22 more subscribers with less trouble are not shown.", browser.text("#subscriber-note"), "the note below the subscribers")
    expect_equal(["orders:1", "orders:0"], order(browser), "order of the lanes")
    expect_equal(["running: state warn", "running: state good"], states(browser), "states of the lanes")
    expect_equal(("23/64", "1,015"), tuple(cells(browser, "orders:1")[name] for name in ("Queued", "Waiting")), "queued and waiting")
    expect("the pool billing is out: 505 records of this lane wait" in browser.text("#lane-table"), "what the lane waits for")
    expect("refused" not in browser.text("#lane-table"), "the lane repeats the error of the outage")
    expect_equal(("1/3 out", "1,020"), tuple(figures(browser)[name] for name in ("Breaker", "Waiting")), "figures of a service with pools")
    page.show(status(lane(0), version="6.2"))
    expect_equal(("", ""), (browser.text("#pools"), browser.text("#subscribers")), "pools that are gone")


def outage():
    why = "connection refused by shop:443"
    text = f"the breaker holds every lane since 14:02:11Z: shop:443: {why}"
    breaker = [reason("breaker_open", "breaker open", "downstream")]
    held = [lane(partition, state="held", hold_reasons=breaker,
                 last_error={"record": f"orders:{partition}:9", "attempt": 1, "error": why, "time": "2026-01-02T14:02:11.007Z"},
                 oldest={"offset": 9, "age_seconds": 90, "place": "waiting", "attempts": 0, "error": why}) for partition in range(4)]
    return why, held, {"ready": False, "reasons": [{"code": "breaker_open", "text": text}], "breaker": {
        "downstream": "shop:443", "state": "open", "since": "2026-01-02T14:02:11.007Z", "reason": why, "failures": "fails for 100 % of calls"}}


def shows_one_banner_for_an_outage(page):
    browser = page.browser
    why, lanes, changes = outage()
    page.show(status(*lanes, **changes, version="7"))
    expect_equal(1, browser.text("body").count(why), f"how often the page says why: {browser.text('body')}")
    expect("Outage" in browser.text("#reasons") and why in browser.text("#reasons"), f"the banner: {browser.text('#reasons')}")
    stalled = [{"code": "stalled", "topic": "orders", "partition": partition, "text": f"orders:{partition}: no progress for 60 s"}
               for partition in range(5)]
    page.show(status(*[lane(partition) for partition in range(5)], ready=False, reasons=stalled, version="8"))
    expect_equal("Not ready\n5 lanes stalled: orders:0, orders:1, orders:2, orders:3, orders:4. The first: orders:0: no progress for 60 s",
                 browser.text("#reasons"), "the same reason for many lanes")


def has_figures_in_line_and_no_hole(page):
    browser = page.browser
    for width in (360, 390, 800, 1280):
        browser.look(width)
        rows = browser.evaluate("""Object.values(Object.groupBy([...document.querySelectorAll("#figures > div")],
            (tile) => Math.round(tile.getBoundingClientRect().top))).map((tiles) => tiles.length)""")
        expect(len(set(rows)) == 1, f"tiles in each row at {width} pixels: {rows}")
    bottoms = browser.evaluate("""[...document.querySelector("tr.lane").querySelectorAll("td[data-label]")].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents([...cell.querySelectorAll("span"), cell].find((node) => node.firstChild?.nodeType === 3));
        return Math.round(range.getBoundingClientRect().bottom);
    })""")
    expect_equal(1, len(set(bottoms)), f"lines on which the figures of a row stand: {bottoms}")


def focused(browser):
    """The element that has the focus, and whether a person sees that."""
    return browser.evaluate("""(() => {
        const node = document.activeElement, style = getComputedStyle(node), box = node.getBoundingClientRect();
        const inside = box.width > 0 && box.left >= 0 && box.right <= innerWidth && box.bottom > 0 && box.top < innerHeight;
        return {name: node.id || node.getAttribute("aria-label") || node.value || node.tagName,
                seen: inside && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2};
    })()""")


def is_used_by_keyboard(page):
    browser = page.browser
    page.show(status(lane(0, oldest={"offset": 40, "age_seconds": 9, "place": "waiting", "attempts": 8, "error": "HTTP 500"}), lane(1), version="9"),
              history(three_hours(), EVENTS, started=2))
    for width in (390, 1280):
        browser.look(width)
        browser.page.reload()
        browser.wait("the page is there anew", "document.querySelectorAll('tr.lane').length === 2")
        found = []
        while not found or found[-1]["name"] != "events":
            browser.press("Tab")
            found.append(focused(browser))
            expect(len(found) < 20, f"the timeline is not reached by Tab: {found}")
        expect_equal(["A", "60", "rate-chart", "lag-chart", "strip-chart", "filter", "Skip the oldest record of orders:0", "Suspend orders:0",
                      "Suspend orders:1", "events"], [one["name"] for one in found], f"what Tab leads to at {width} pixels")
        expect_equal([], [one for one in found if not one["seen"]], f"where the focus is not seen at {width} pixels")
        browser.press("Shift+Tab")
        browser.press("Enter")
        page.wait_for_text("#control-title", "Suspend orders:1?")
        browser.press("Escape")
        expect(not browser.evaluate("document.querySelector('#control').open"), "Escape leaves the dialog open")
        expect_equal("Suspend orders:1", focused(browser)["name"], "where the focus is after Escape")


def is_accessible(page, folder):
    """In each look, with trouble of every kind, and with the dialog; and the checker does find what is planted."""
    browser = page.browser
    why, lanes, changes = outage()
    lanes += [lane(4, suspended=True, state="suspended"), lane(5, commits_blocked=True), lane(6)]
    changes["pools"] = pools_in_trouble()[1]["pools"]
    page.show(status(*lanes, **changes, advice=["lanes.workers 8 -> 12: all busy 71 % of the last 5 min (orders:3)"], version="10"),
              history(three_hours(), EVENTS, started=3))
    browser.click("input[name=range][value='360']")
    browser.wait("three hours are shown", SHOWN_ALL)
    for width, scheme in LOOKS:
        browser.look(width, scheme=scheme)
        look = f"at {width} pixels, {scheme}"
        expect_equal(width, browser.evaluate("document.documentElement.scrollWidth"), f"width of all {look}")
        browser.evaluate("scrollTo(0, 0)")
        browser.page.screenshot(path=folder / f"page-{width}-{scheme}.png", full_page=True)
        expect_equal([], browser.accessibility_violations(), f"violations {look}")
        browser.click('button[aria-label="Resume orders:4"]')
        page.wait_for_text("#control-title", "Resume orders:4?")
        expect_equal([], browser.accessibility_violations(), f"violations with the dialog {look}")
        browser.press("Escape")
    browser.evaluate("document.querySelector('#about').style.color = '#444'")
    browser.evaluate("document.querySelector('#lag-chart').removeAttribute('aria-label')")
    found = browser.accessibility_violations()
    expect_equal(["aria-input-field-name", "color-contrast"], sorted(one.split(":")[0] for one in found), "what the checker finds of two planted violations")
    browser.page.reload()
    page.wait_for_text("#about", "version 10")


def survives_a_restart(page):
    browser = page.browser
    browser.click("input[name=range][value='360']")
    browser.wait("three hours are shown", SHOWN_ALL)
    page.show(status(lane(0), dead_letters=1, version="11"),
              history([(1, {"dead_letters": 1})], [(1, 1, "warn", "1 dead letter: orders:0.")], started=4))
    page.wait_for_text("#events", "The service was restarted.")
    expect("4 dead letters" in browser.text("#events"), "the events of the process before are gone")
    expect_equal(3, marks(browser, "dead-letter"), "marks of dead letters, of both processes")


def shows_anything(page):
    """Answers that no service gives: markup and marks that turn text around in every text, three hundred lanes, numbers of any size, unknown fields."""
    browser, marked = page.browser, lambda name: f"{name}{EVIL}{TURNED}"
    many = [lane(partition, topic=marked("topic"), state="held", hold_reasons=[reason(marked("code"), marked("held"), marked("cause"))],
                 lag=None, finished_beyond_commit=10 ** 15,
                 queued=10 ** 6, queue_capacity=10 ** 6, waiting_retries=10 ** 12, committed=None, rate=1e9, dead_letters=10 ** 15,
                 dead_letter_rate=1e9, source_error=marked("source"),
                 last_error={"record": marked("record"), "attempt": 4, "time": "no time", "error": marked("last")},
                 oldest={"offset": 2 ** 53 - 1, "age_seconds": 1e8, "place": marked("place"), "attempts": 4, "error": marked("error")})
            for partition in range(300)]
    page.show(status(*many, version=marked("version"), group=marked("group"), uptime_seconds=1e9, ready=False,
                     reasons=[{"code": "held", "text": marked("reason")}], advice=[marked("advice")], dead_letters=10 ** 15,
                     breaker={"downstream": "shop", "state": marked("state"), "since": None, "failures": marked("failures")}),
              history([(2, {"rate": 1e12, "lag": 2 ** 53})], [(1, 1, "bad", marked("event"))], started=5))
    page.wait_for_text("#lane-note", "100 more lanes")
    page.wait_for_text("#events", f"event{EVIL}{AS_SHOWN}")
    seen = browser.text("body")
    for name in ("version", "group", "reason", "advice", "state", "failures", "topic", "held", "place", "error", "source", "record", "last"):
        expect(f"{name}{EVIL}{AS_SHOWN}" in seen, f"the {name} is not there, with its marks escaped")
    expect_equal(False, browser.evaluate(r"/[\u202e\u2066\u200f\x1b]/.test(document.documentElement.outerHTML)"), "marks in the page")
    expect_equal(0, browser.evaluate("document.querySelectorAll('img').length"), "elements that a stranger's words made")
    expect_equal(None, browser.evaluate("window.stolen ?? null"), "a stranger's script ran")
    browser.look(360)
    expect_equal(360, browser.evaluate("document.documentElement.scrollWidth"), "width with words and numbers of any length")
    strangers = pool(marked("pool"), trouble=marked("trouble"), waiting=10 ** 15, subscribers={
        "known": 10 ** 9, "out": 1, "at_limit": 0,
        "worst": [subscriber(marked("subscriber") * 3, "open", text=marked("why"), waiting=10 ** 15)]})
    page.show(status(*many, pools=[strangers], version="12"))
    for name in ("pool", "trouble", "subscriber", "why"):
        expect(f"{name}{EVIL}{AS_SHOWN}" in browser.text("body"), f"the {name} is not there, with its marks escaped")
    expect_equal(None, browser.evaluate("window.stolen ?? null"), "a stranger's script ran")
    expect_equal(360, browser.evaluate("document.documentElement.scrollWidth"), "width with pools of any length")
    browser.click("#filter")
    browser.write(":299")
    browser.wait("the filter finds one lane", "document.querySelectorAll('tr.lane').length === 1")
    page.wait_for_text("#lane-count", "1 of 300")


if __name__ == "__main__":
    harness.main("page_shown", scenario)
