"""The web page in a real browser: lanes live, strangers' words as text, pause and skip with the token, phone, dark, silence.

The records' errors and the group's name are markup that would run if anything read it as such.
"""
import json
import sys

import harness
from browser import Browser
from harness import expect, expect_equal, wait_until

PARTITIONS, RECORDS, STUCK, OFFSET = 4, 40, 2, 5
EVIL = "<img src=x onerror='window.stolen=1'><script>window.stolen=2</script>"
TOKEN = "a-secret-of-the-operators"
PROGRAM = f"""
import json, sys
for line in sys.stdin:
    record = json.loads(line)
    evil = record["partition"] == {STUCK} and record["offset"] == {OFFSET}
    print(json.dumps({{"id": record["id"], **({{"outcome": "retry", "reason": {EVIL!r}}} if evil else {{"outcome": "done"}})}}),
          flush=True)
"""
# The contrast of each text with what is behind it, as WCAG 2 counts it, where it is below that of AA.
FAINT = """(() => {
  const rgb = (text) => text.match(/[0-9.]+/g).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = rgb(getComputedStyle(node).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const node of document.querySelectorAll("body *")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
    if (!node.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faint.push(`${node.textContent.slice(0, 30)}: ${contrast.toFixed(1)}`);
  }
  return faint;
})()"""


class Page:
    """What a person does with it."""

    def __init__(self, run, browser):
        self.run, self.browser = run, browser

    def button(self, verb, partition):
        name = {"Skip": f"Skip the oldest record of {self.lane(partition)}"}.get(verb, f"{verb} {self.lane(partition)}")
        return f'button[aria-label="{name}"]'

    def lane(self, partition):
        return f"{self.run.topic}[{partition}]"

    def row(self, partition):
        """The words of a lane's row; none while it is not there."""
        return self.browser.evaluate(f"""[...document.querySelectorAll("#lane-table tbody")]
            .find((body) => body.querySelector(".lane-name").textContent === {json.dumps(self.lane(partition))})?.innerText ?? "" """)

    def wait_for_row(self, partition, words):
        wait_until(f"lane {partition} shows {words!r}", lambda: words in self.row(partition))

    def wait_for_text(self, selector, words):
        wait_until(f"{selector} shows {words!r}", lambda: words in self.browser.text(selector))


def scenario(run):
    run.group += "<b onclick=alert(1)>"
    run.create(PARTITIONS)
    token, program = run.folder / "token", run.folder / "program.py"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    program.write_text(PROGRAM)
    service = run.service("service", handler={"simulate": None, "exec": {"command": [sys.executable, str(program)]}},
                          lanes={"workers": 1}, retry={"attempts": 100000, "backoff": "200ms", "max_backoff": "500ms"},
                          dead_letter={"topic": "{topic}-dlt"}, admin={"token_file": str(token), "ready": {"stall": "2s"}})
    run.produce("--count", RECORDS * PARTITIONS, "--size", 100)
    browser = Browser(run.folder)
    try:
        browser.open(service.url() + "/")
        page = Page(run, browser)
        shows_strangers_words_as_text(page)
        pauses(page)
        fits_everywhere(page)
        skips(page)
        expect_equal(1, len(browser.complaints), f"complaints of the browser, one about the refusal: {browser.complaints}")
        expect("401" in browser.complaints[0], f"the browser's only complaint: {browser.complaints}")
        says_when_there_is_no_answer(page, service)
        shows_each_number_in_its_place(page)
        shows_anything(page)
    finally:
        browser.close()


def shows_strangers_words_as_text(page):
    browser = page.browser
    for partition in range(PARTITIONS):
        page.wait_for_row(partition, "running")
    page.wait_for_row(STUCK, EVIL)
    page.wait_for_text("#reasons", EVIL)  # it makes no progress, and the reason says so
    expect(page.lane(STUCK) in browser.text("#reasons"), "the reason does not say which lane it is")
    expect_equal("not ready", browser.text("#ready"), "readiness")
    first = browser.evaluate("document.querySelector('#lane-table tbody .lane-name').textContent")
    expect_equal(page.lane(STUCK), first, "the lane in trouble comes first")
    expect(page.run.group in browser.text("h1"), f"the group's name: {browser.text('h1')}")
    page.wait_for_text("#events", EVIL)
    expect_equal(0, browser.evaluate("document.querySelectorAll('img, b').length"), "elements that a stranger's words made")
    expect_equal(None, browser.evaluate("window.stolen ?? null"), "a stranger's script ran")
    refused = browser.evaluate("(() => { try { document.createElement('p').innerHTML = '<i>'; } catch (e) { return e.name; } })()")
    expect_equal("TypeError", refused, "markup made of text, as the policy has it")
    browser.complaints[:] = [one for one in browser.complaints if "TrustedHTML" not in one]


def pauses(page):
    """By keyboard: refused without the token, done with it."""
    browser = page.browser
    browser.evaluate(f"document.querySelector({json.dumps(page.button('Pause', 1))}).focus()")
    browser.press("Enter")
    page.wait_for_text("#control-title", f"Pause {page.lane(1)}?")
    browser.press("Tab")
    expect_equal("token", browser.evaluate("document.activeElement.id"), "what Tab leads to in the dialog")
    browser.press("Enter")
    page.wait_for_text("#control-refused", "Refused: this needs the token of admin.token_file")
    expect("by hand" not in page.row(1), "the lane is paused although it was refused")
    browser.write(TOKEN)
    browser.press("Enter")
    page.wait_for_row(1, "by hand")
    page.wait_for_text("#events", f"{page.lane(1)} was paused by hand")
    focused = browser.evaluate("document.activeElement.getAttribute('aria-label')")
    expect_equal(f"Resume {page.lane(1)}", focused, "where the focus is after the dialog")
    expect_equal(0, browser.evaluate("localStorage.length + sessionStorage.length + document.cookie.length"), "what is kept")
    browser.click(page.button("Resume", 1))
    page.wait_for_text("#control-title", f"Resume {page.lane(1)}?")
    browser.press("Escape")
    expect(not browser.evaluate("document.querySelector('#control').open"), "Escape leaves the dialog open")
    expect("by hand" in page.row(1), "the lane goes on although nobody said so")
    browser.click(page.button("Resume", 1))
    browser.click("#control-do")  # the token is still in its place
    page.wait_for_row(1, "running")


def fits_everywhere(page):
    browser = page.browser
    grounds = set()
    for width in (360, 1240):
        for scheme in ("light", "dark"):
            browser.look(width, 900, scheme)
            expect_equal(width, browser.evaluate("document.documentElement.scrollWidth"), f"width of all at {width}, {scheme}")
            expect_equal([], browser.evaluate(FAINT), f"words that are hard to read at {width}, {scheme}")
            grounds.add(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
            check_roles(browser)
    expect_equal(2, len(grounds), "backgrounds, a light and a dark one")
    browser.look(360)
    browser.click(page.button("Skip", STUCK))
    expect_equal(360, browser.evaluate("document.documentElement.scrollWidth"), "width with the dialog")
    browser.click("#control-cancel")
    browser.look(1240)


def check_roles(browser):
    """What a screen reader is told: a table is one on a phone, too, and what can be pressed has a name."""
    nodes = [node for node in browser.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    roles = [node["role"]["value"] for node in nodes]
    expect(roles.count("row") >= 1 + PARTITIONS and roles.count("rowheader") == PARTITIONS and roles.count("columnheader") == 11,
           f"rows of the table: {roles.count('row')}, headers: {roles.count('rowheader')}, {roles.count('columnheader')}")
    nameless = [node for node in nodes if node["role"]["value"] in ("button", "textbox", "searchbox", "image", "table")
                and not node["name"]["value"]]
    expect_equal([], nameless, "parts without a name")


def skips(page):
    browser = page.browser
    browser.click(page.button("Skip", STUCK))
    page.wait_for_text("#control-record", EVIL)
    browser.click("#control-do")
    expect(browser.evaluate("document.querySelector('#control').open"), "a record is skipped without a reason")
    browser.click("#reason")
    browser.write("the order was cancelled")
    browser.click("#control-do")
    page.wait_for_text("#events", f"1 dead letter: {page.lane(STUCK)}.")
    wait_until("it is ready", lambda: browser.text("#ready") == "ready")
    expect_equal("", browser.text("#reasons"), "reasons of a service that is ready")


def says_when_there_is_no_answer(page, service):
    browser = page.browser
    browser.call("Network.enable")
    offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.call("Network.emulateNetworkConditions", offline=True, **offline)
    page.wait_for_text("#no-answer", "does not answer since")
    browser.call("Network.emulateNetworkConditions", offline=False, **offline)
    wait_until("it answers again", lambda: browser.text("#no-answer") == "")
    service.stop()
    page.wait_for_text("#no-answer", "nothing answers there")
    expect(browser.evaluate("document.title").startswith("no answer"), "the title does not say it")


def planted(uptime, rebalances, *lanes):
    """A status whose numbers are all different. A lane: partition, lag."""
    return json.dumps({
        "version": "1", "group": "planted", "uptime_seconds": uptime, "members": 1, "ready": True, "reasons": [], "advice": [],
        "breaker": {"downstream": "shop:443", "state": "closed", "reason": "", "failures": "fails for 3 % of calls: HTTP 500 (12)"},
        "rebalances": rebalances, "commits": {"succeeded": 0, "failed": 0},
        "lanes": [{"topic": "orders", "partition": partition, "state": "running", "paused_by_hand": False, "held_by": "", "lag": lag,
                   "in_flight": 3 + partition, "workers": 8, "queued": 17 + partition, "queue_capacity": 64, "waiting_retries": 5,
                   "stuck": 0, "committed": 9876, "delivered": 9900, "rate": 75000, "dead_letters": 0, "dead_letter_rate": 2.5, "source_error": "",
                   "last_error": {"record": f"orders:{partition}:9870", "attempt": 8, "time": "2026-01-02T14:02:11.007Z", "error": "HTTP 503"},
                   "oldest": {"offset": 9876, "age_seconds": 42, "place": "at work", "attempts": 1}} for partition, lag in lanes]})


def shows_each_number_in_its_place(page):
    """Three statuses, each with other lanes: cells, sums, charts, and the rebalances between them."""
    browser = page.browser
    page.lane = lambda partition: f"orders[{partition}]"
    browser.plant("*/status", planted(1, {"assigned": 1, "revoked": 0, "lost": 0}, (0, 1234), (1, 766)))  # started anew
    page.wait_for_row(1, "766")
    expect_equal({"Lag": "1,234", "At work": "3/8", "Queue": "17/64", "Retries": "5", "Oldest": "42 s", "Committed": "9,876",
                  "Records/s": "75,000", "Dead/s": "2.5"}, cells(browser, "orders[0]"), "cells")
    expect("orders:0:9870 (attempt 8): HTTP 503" in page.row(0), f"the last error: {page.row(0)}")
    expect_equal("The downstream shop:443 fails for 3 % of calls: HTTP 500 (12).", browser.text("#downstream"), "the downstream")
    expect_equal({"Records/s": "150K", "Dead letters/s": "5.0", "Lag": "2,000", "At work": "7/16", "Queued": "35", "Retries waiting": "10"},
                 {name: value for name, value in figures(browser).items() if name not in ("Dead letters", "Oldest record", "Breaker")},
                 "sums")
    before = marks(browser)
    browser.plant("*/status", planted(2, {"assigned": 2, "revoked": 1, "lost": 0}, (0, 7000), (2, 1000)))
    page.wait_for_text("#events", "Rebalance, went: orders[1]; came: orders[2].")
    expect_equal(before + 1, marks(browser), "marks of rebalances")
    expect_equal("8,000", browser.text("#lag-now"), "lag beside its chart")
    expect_equal("top 8,000", browser.text("#lag-most"), "top of the chart")
    expect_equal([75.0, 0.0], heights(browser, "lag"), "heights of the lag's line, 2,000 and 8,000 of 8,000")
    silent = json.loads(planted(2, {"assigned": 2, "revoked": 1, "lost": 0}, (0, 7000), (2, 1000)))
    silent["lanes"][1]["silent_seconds"] = 95
    browser.plant("*/status", json.dumps(silent))
    page.wait_for_text("#events", "orders[2] is silent")
    expect("silent for 95 s" in page.row(2), f"a lane that is silent: {page.row(2)}")
    browser.plant("*/status", planted(3, {"assigned": 2, "revoked": 1, "lost": 1}, (0, 4000)))
    page.wait_for_text("#events", "Rebalance, partitions were lost; went: orders[2].")
    expect_equal(before + 2, marks(browser), "marks of rebalances")
    expect_equal([75.0, 0.0, 50.0], heights(browser, "lag"), "heights of the lag's line, and 4,000")
    expect_equal([0.0, 50.0], heights(browser, "rate"), "heights of the line of the rate, 150,000 and 75,000 of 150,000")


def cells(browser, lane):
    return browser.evaluate(f"""Object.fromEntries([...[...document.querySelectorAll("tr.lane")]
        .find((row) => row.querySelector(".lane-name").textContent === {json.dumps(lane)})
        .querySelectorAll("td[data-label]")].map((cell) => [cell.dataset.label, cell.innerText.trim()]))""")


def figures(browser):
    return browser.evaluate("""Object.fromEntries([...document.querySelectorAll("#figures > div")]
        .map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent]))""")


def marks(browser):
    return browser.evaluate("document.querySelectorAll('#rebalance-strip rect').length")


def heights(browser, chart):
    """Of the newest line without a gap, from the left to the right, the same ones once."""
    path = browser.evaluate(f"[...document.querySelectorAll('#{chart}-chart path.line')].pop().getAttribute('d')")
    points = [tuple(map(float, point.split(","))) for point in path.removeprefix("M").split(" L")]
    expect(all(a[0] <= b[0] for a, b in zip(points, points[1:])), f"the line goes back: {path}")
    return [y for index, (_, y) in enumerate(points) if index == 0 or y != points[index - 1][1]]


def shows_anything(page):
    """What no service here says: markup in every text, three hundred lanes, numbers of any size, what is not known."""
    browser, marked = page.browser, lambda name: f"{name}{EVIL}"
    lane = {"topic": marked("topic"), "state": "held", "paused_by_hand": False, "held_by": marked("held"), "lag": None,
            "in_flight": 8, "workers": 8, "queued": 10 ** 6, "queue_capacity": 10 ** 6, "waiting_retries": 10 ** 12, "stuck": 0,
            "committed": None, "delivered": None, "rate": 1e9, "dead_letters": 10 ** 15, "dead_letter_rate": 1e9, "source_error": marked("source"),
            "last_error": {"record": marked("record"), "attempt": 4, "time": "no time", "error": marked("last")},
            "oldest": {"offset": 2 ** 53 - 1, "age_seconds": 1e8, "place": marked("place"), "attempts": 4, "error": marked("error")}}
    status = {"version": marked("version"), "group": marked("group"), "uptime_seconds": 1e9, "members": 1, "ready": False,
              "reasons": [{"code": "held", "text": marked("reason")}], "advice": [marked("advice")],
              "breaker": {"downstream": marked("downstream"), "state": "open", "reason": marked("refused")},
              "rebalances": {"assigned": 1, "revoked": 0, "lost": 0}, "commits": {"succeeded": 0, "failed": 0},
              "lanes": [{**lane, "partition": partition} for partition in range(300)]}
    browser.plant("*/status", json.dumps(status))
    page.wait_for_text("#lane-note", "and 100 more")
    seen = browser.text("body")
    for name in ("version", "group", "reason", "advice", "downstream", "refused", "topic", "held", "place", "error", "source", "record", "last"):
        expect(marked(name) in seen, f"the {name} is not there as it is")
    expect_equal(0, browser.evaluate("document.querySelectorAll('img').length"), "elements that a stranger's words made")
    expect_equal(None, browser.evaluate("window.stolen ?? null"), "a stranger's script ran")
    browser.look(360)
    expect_equal(360, browser.evaluate("document.documentElement.scrollWidth"), "width with words and numbers of any length")
    browser.click("#filter")
    browser.write("[299]")
    browser.wait("the filter finds one lane", "document.querySelectorAll('tr.lane').length === 1")
    page.wait_for_text("#lane-count", "1 of 300")


if __name__ == "__main__":
    harness.main("page", scenario)
