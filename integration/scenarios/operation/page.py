"""The web page in a real browser, of a real service: lanes live, strangers' words as text, suspend and skip with the token, the
history that the service keeps, a lane whose commits are blocked, phone, dark, no answer.

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


class Page:
    """The actions of a person on the page."""

    def __init__(self, run, browser):
        self.run, self.browser = run, browser

    def button(self, verb, partition):
        name = {"Skip": f"Skip the oldest record of {self.lane(partition)}"}.get(verb, f"{verb} {self.lane(partition)}")
        return f'button[aria-label="{name}"]'

    def lane(self, partition):
        return f"{self.run.topic}:{partition}"

    def row(self, partition):
        """The words of a lane's row; empty while there is no row."""
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
    settings = {"handler": {"simulate": None, "exec": {"command": [sys.executable, str(program)]}}, "lanes": {"workers": 1},
                "retry": {"attempts": 100000, "backoff": "200ms", "max_backoff": "500ms"}, "dead_letter": {"topic": "{topic}-dlt"},
                "admin": {"token_file": str(token), "ready": {"stall": "2s"}}}
    service = run.service("service", **settings)
    run.produce("--count", RECORDS * PARTITIONS, "--size", 100)
    browser = Browser(run.folder)
    try:
        browser.open(service.url() + "/")
        page = Page(run, browser)
        shows_strangers_words_as_text(page)
        suspends(page)
        fits_everywhere(page)
        shows_blocked_commits(page)
        skips(page)
        loses_a_lane_and_gets_it_back(page, service, settings)
        keeps_the_history(page, service)
        expect_equal(1, len(browser.complaints), f"complaints of the browser, one about the refusal: {browser.complaints}")
        expect("401" in browser.complaints[0], f"the browser's only complaint: {browser.complaints}")
        says_when_there_is_no_answer(page, service)
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


def suspends(page):
    """By keyboard: refused without the token, done with it."""
    browser = page.browser
    browser.evaluate(f"document.querySelector({json.dumps(page.button('Suspend', 1))}).focus()")
    browser.press("Enter")
    page.wait_for_text("#control-title", f"Suspend {page.lane(1)}?")
    browser.press("Tab")
    expect_equal("token", browser.evaluate("document.activeElement.id"), "what Tab leads to in the dialog")
    browser.press("Enter")
    page.wait_for_text("#control-refused", "Refused: this request needs the token of admin.token_file")
    expect("suspended" not in page.row(1), "the lane is suspended although it was refused")
    browser.write(TOKEN)
    browser.press("Enter")
    page.wait_for_row(1, "suspended")
    page.wait_for_text("#events", f"{page.lane(1)} is suspended.")
    focused = browser.evaluate("document.activeElement.getAttribute('aria-label')")
    expect_equal(f"Resume {page.lane(1)}", focused, "where the focus is after the dialog")
    expect_equal(0, browser.evaluate("localStorage.length + sessionStorage.length + document.cookie.length"), "what is kept")
    browser.click(page.button("Resume", 1))
    page.wait_for_text("#control-title", f"Resume {page.lane(1)}?")
    browser.press("Escape")
    expect(not browser.evaluate("document.querySelector('#control').open"), "Escape leaves the dialog open")
    expect("suspended" in page.row(1), "the lane goes on although nobody said so")
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
            grounds.add(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
            check_roles(browser)
    expect_equal(2, len(grounds), "backgrounds, a light and a dark one")
    browser.look(360)
    browser.click(page.button("Skip", STUCK))
    expect_equal(360, browser.evaluate("document.documentElement.scrollWidth"), "width with the dialog")
    browser.click("#control-cancel")
    browser.look(1240)


def check_roles(browser):
    """The page for a screen reader: tables stay tables on a phone, and every control has a name."""
    nodes = [node for node in browser.devtools.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    roles = [node["role"]["value"] for node in nodes]
    expect(roles.count("row") >= 1 + PARTITIONS and roles.count("rowheader") == PARTITIONS and roles.count("columnheader") == 12,
           f"rows of the table: {roles.count('row')}, headers: {roles.count('rowheader')}, {roles.count('columnheader')}")
    nameless = [node for node in nodes if node["role"]["value"] in ("button", "textbox", "searchbox", "slider", "table")
                and not node["name"]["value"]]
    expect_equal([], nameless, "parts without a name")


def shows_blocked_commits(page):
    """The record that always fails holds back the commits of the records behind it."""
    browser = page.browser
    blocks = f"{page.lane(STUCK)}: record {page.lane(STUCK)}:{OFFSET} is not finished and blocks the commits"
    page.wait_for_text("#events", blocks)
    page.wait_for_row(STUCK, "blocks the commits")
    expect_equal(str(RECORDS - OFFSET - 1), browser.evaluate(
        "document.querySelector('#lane-table tbody td[data-label=\"Beyond commit\"]').textContent"), "records finished beyond the commit")


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


def loses_a_lane_and_gets_it_back(page, service, settings):
    """The lane's counters begin again; the process's counts do not."""
    lanes = lambda: {lane["partition"]: lane["dead_letters"] for lane in json.loads(service.get("/status"))["lanes"]}  # noqa: E731
    second = page.run.service("second", **settings)
    wait_until("the second member has lanes", lambda: len(lanes()) < PARTITIONS)
    second.stop()
    wait_until("all lanes are back", lambda: len(lanes()) == PARTITIONS)
    expect_equal(1, json.loads(service.get("/status"))["dead_letters"], f"dead letters of the process; of the lanes: {lanes()}")
    page.wait_for_text("#events", "Rebalance: removed: ")


def keeps_the_history(page, service):
    """A page that is opened now shows the earlier events, and the tile and the marks agree."""
    browser = page.browser
    browser.page.reload()
    page.wait_for_text("#events", f"1 dead letter: {page.lane(STUCK)}.")
    expect(f"{page.lane(1)} is suspended." in browser.text("#events"), f"what was before: {browser.text('#events')}")
    expect(int(browser.evaluate("document.querySelector('#lag-chart').getAttribute('aria-valuemax')")) >= 5, "samples from before")
    counted = browser.evaluate("""[...document.querySelectorAll("#dead-letter-strip rect")].map((mark) => mark.dataset.count)""")
    tile = browser.evaluate("""[...document.querySelectorAll("#figures > div")]
        .find((one) => one.innerText.startsWith("Dead letters\\n")).querySelector("dd").textContent""")
    expect_equal((["1"], "1"), (counted, tile), "dead letters: marks, and tile")
    known = json.loads(service.get("/history"))
    later = json.loads(service.get(f"/history?after={known['last']}"))
    expect(len(known["samples"]) >= 5 and len(later["samples"]) <= 1, "the history by its numbers")


def says_when_there_is_no_answer(page, service):
    browser = page.browser
    browser.page.context.set_offline(True)
    page.wait_for_text("#no-answer", "has not answered since")
    browser.page.context.set_offline(False)
    wait_until("it answers again", lambda: browser.text("#no-answer") == "")
    service.stop()
    page.wait_for_text("#no-answer", "the service cannot be reached")
    expect(browser.evaluate("document.title").startswith("no answer"), "the title does not say it")


if __name__ == "__main__":
    harness.main("page", scenario)
