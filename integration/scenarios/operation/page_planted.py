"""The answers that the stories of the web page plant in place of a service's, and their readers of the page."""
import json
import time

MINUTE = 60
COLUMNS = ["number", "at_ms", "rate", "lag", "ready", "breaker", "dead_letters", "rebalances"]


def reason(code, text, cause="limit"):
    """Why a lane is held."""
    return {"code": code, "cause": cause, "text": text}


def lane(partition, **changes):
    """A lane whose numbers are all different."""
    return {"topic": "orders", "partition": partition, "state": "running", "suspended": False, "commits_blocked": False, "hold_reasons": [],
            "lag": 1234, "finished_beyond_commit": 31, "in_flight": 3 + partition, "workers": 8, "queued": 17 + partition,
            "queue_capacity": 64, "waiting_retries": 5, "stuck": 0, "committed": 9876, "delivered": 9900, "rate": 75000,
            "dead_letters": 0, "dead_letter_rate": 2.5, "source_error": "",
            "last_error": {"record": f"orders:{partition}:9870", "attempt": 8, "time": "2026-01-02T14:02:11.007Z", "error": "HTTP 503"},
            "oldest": {"offset": 9876, "age_seconds": 42, "place": "running", "attempts": 1}, **changes}


def status(*lanes, **changes):
    return json.dumps({
        "version": "1", "group": "planted", "uptime_seconds": 10800, "members": 1, "ready": True, "reasons": [], "advice": [],
        "breaker": {"downstream": "shop:443", "state": "closed", "reason": "", "since": None,
                    "failures": "fails for 3 % of calls: HTTP 500 (12)"},
        "rebalances": {"assigned": 1, "revoked": 0, "lost": 0}, "commits": {"succeeded": 0, "failed": 0}, "dead_letters": 7,
        "lanes": lanes, **changes})


def pool(name, state="closed", **changes):
    """A named pool whose numbers are all different."""
    out = state != "closed"
    return {"name": name, "then": "", "helped_by": [], "running": 3, "workers": 16, "total": 0, "queued": 12, "queue_capacity": 512,
            "waiting": 1000, "waiting_retries": 10, "retries": 2, "borrowed": 0, "stuck": 0, "oldest_seconds": 7.0, "rate": 13.4,
            "trouble": "out since 14:02:11Z: its records wait" if out else "",
            "breaker": {"downstream": f"{name}:443", "state": state, "reason": "refused" if out else "",
                        "since": "2026-01-02T14:02:11.007Z" if out else None, "failures": ""}, **changes}


def subscriber(name, state="closed", **changes):
    return {"name": name, "state": state, "running": 1, "most": 4, "waiting": 12, "text": f"why {name}", **changes}


def history(samples, events=(), started=1, complete=True, last=None):
    """`samples`: (seconds ago, {column: value}). `events`: (id, seconds ago, level, text)."""
    now = int(time.time() * 1000)
    usual = {"rate": 75000, "lag": 1000, "ready": True, "breaker": "closed", "dead_letters": 0, "rebalances": 1}
    rows = []
    for number, (ago, values) in enumerate(samples, 1):
        row = {**usual, **values, "number": number, "at_ms": int(now - ago * 1000)}
        rows.append([row[column] for column in COLUMNS])
    return json.dumps({
        "started": started, "now": now, "complete": complete, "last": len(rows) + len(events) if last is None else last, "columns": COLUMNS,
        "samples": rows, "events": [{"id": number, "at_ms": int(now - ago * 1000), "since_ms": int(now - ago * 1000), "level": level, "text": text}
                                    for number, ago, level, text in events]})


def three_hours():
    """Samples of three hours: an outage after one, dead letters after two, a rebalance that takes a lane and its counters away."""
    samples = []
    for ago in range(180 * MINUTE, 0, -5):
        outage = 110 * MINUTE < ago <= 120 * MINUTE
        samples.append((ago, {
            "rate": 0 if outage else 280 + 40 * ((ago // 60) % 7), "lag": max(0, 12000 - 40 * abs(ago - 110 * MINUTE) // 5) if ago < 120 * MINUTE else 30,
            "ready": not outage, "breaker": "open" if outage else "closed",
            "dead_letters": 0 if ago > 60 * MINUTE else 3 if ago > 50 * MINUTE else 7, "rebalances": 1 if ago > 55 * MINUTE else 2}))
    return samples


EVENTS = [
    (1, 180 * MINUTE, "plain", "Rebalance: added: orders:0, orders:1, orders:2, orders:3."),
    (2, 120 * MINUTE, "bad", "The breaker of shop:443 is open: HTTP 503"),
    (3, 110 * MINUTE, "good", "The breaker of shop:443 is closed"),
    (4, 60 * MINUTE, "warn", "3 dead letters: orders:1."),
    (5, 55 * MINUTE, "plain", "Rebalance: removed: orders:1; added: orders:4."),
    (6, 50 * MINUTE, "warn", "4 dead letters: orders:2 (3), orders:4 (1)."),
]


def cells(browser, name, table="lane"):
    return browser.evaluate(f"""Object.fromEntries([...[...document.querySelectorAll("#{table}-table tr.entry")]
        .find((row) => row.querySelector(".row-name").textContent === {json.dumps(name)})
        .querySelectorAll("td[data-label]")].map((cell) => [cell.dataset.label, cell.innerText.trim()]))""")


def figures(browser):
    return browser.evaluate("""Object.fromEntries([...document.querySelectorAll("#figures > div")]
        .map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent]))""")


def order(browser, table="lane"):
    return browser.evaluate(f"[...document.querySelectorAll('#{table}-table tbody .row-name')].map((name) => name.textContent)")


def states(browser, table="lane"):
    """The words in the column of the state, with the classes that colour them."""
    return browser.evaluate(f"[...document.querySelectorAll('#{table}-table td.state')].map((cell) => `${{cell.textContent}}: ${{cell.className}}`)")


def marks(browser, strip):
    return browser.evaluate(f"document.querySelectorAll('#{strip}-strip rect').length")


def heights(browser, chart):
    """The points of the newest line with more than one point, from left to right, equal points once."""
    return browser.evaluate(f"""(() => {{
        const lines = [...document.querySelectorAll("#{chart}-chart path.line")].map((path) => path.getAttribute("d").slice(1).split(" L"));
        const points = lines.filter((line) => line.length > 1).pop().map((point) => point.split(",").map(Number));
        if (points.some(([x], index) => index > 0 && x < points[index - 1][0])) throw new Error("the line goes back");
        return points.map(([, y]) => y).filter((y, index, all) => index === 0 || y !== all[index - 1]);
    }})()""")
