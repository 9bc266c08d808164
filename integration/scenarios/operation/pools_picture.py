"""The pools of a service on its web page, as a picture. usage: pools_picture.py FILE; scripts/screenshot runs it.

The downstream of one pool refuses connections; of the subscribers of another pool one fails and one is slow; the third pool is well.
The records of the three in trouble are parked.
"""
import json
import sys
import time

import harness
from browser import Browser
from downstream import Downstream
from harness import wait_until
from web_service import WebService

RATES = {"orders": 60, "billing": 10}                              # records a second of each kind
SUBSCRIBERS = {"audit": 5, "crm": 5, "legacy": 2, "slowpoke": 12}  # of each subscriber
PARKED = {"billing": 300, "legacy": 60, "slowpoke": 80}            # records of each in the picture, at least


class Receivers(WebService):
    """Where the subscribers get their events."""

    def judge(self, _, body):
        to = json.loads(body)["to"]
        time.sleep(0.4 if to == "slowpoke" else 0.01)
        return 503 if to == "legacy" else 204


def settings_of(shop, billing, receivers):
    to = lambda url: {"http": {"url": url}}  # noqa: E731
    breaker = {"failures": 3, "probe": "2s"}
    return {"handler": None, "dead_letter": {"topic": "{topic}-dlt"}, "retry": {"max_backoff": "2s"}, "lanes": {"order": "none"},
            "route": {"by": "header:kind", "pools": {"orders": "orders", "billing": "billing"}, "default": "hooks"},
            "pools": {"orders": {"workers": 8, "handler": to(f"{shop.url}/orders")},
                      "billing": {"workers": 4, "queue": 16, "breaker": breaker, "handler": to(f"{billing.url}/billing")},
                      "hooks": {"workers": 8, "breaker": breaker, "each": {"by": "value:/to", "workers": 1},
                                "handler": to(receivers.url())}}}


def parked(service):
    """{pool or subscriber: its parked records}"""
    pools = json.loads(service.get("/status"))["pools"]
    subscribers = [one for pool in pools for one in pool.get("subscribers", {}).get("worst", [])]
    return {one["name"]: one["parked"] for one in (*pools, *subscribers)}


def scenario(run):
    run.topic, run.group = "shop", "shop-pools"
    run.create(1)
    shop, billing, receivers = Downstream(run.folder, "orders"), Downstream(run.folder, "billing"), Receivers()
    service = run.service("service", **settings_of(shop, billing, receivers))
    for kind, rate in RATES.items():
        run.produce_meanwhile("--rate", rate, "--header", f"kind={kind}")
    for name, rate in SUBSCRIBERS.items():
        run.produce_meanwhile("--rate", rate, "--header", "kind=hook", "--value", json.dumps({"to": name}))
    run.wait_for_progress(service, 1000)
    browser = Browser(run.folder)
    try:
        browser.open(service.url() + "/", height=400)
        wait_until("the records of slowpoke are parked", lambda: parked(service).get("slowpoke", 0) > 0)
        billing.become("refuse")
        wait_until("the page has the outage", lambda: "out since" in browser.text("#pool-table"))
        wait_until("enough records are parked", lambda: all(parked(service).get(name, 0) >= most for name, most in PARKED.items()))
        browser.evaluate("document.querySelectorAll('.charts, #timeline').forEach((part) => part.hidden = true)")  # docs/page.png has these
        browser.page.screenshot(path=sys.argv[1], full_page=True)
    finally:
        browser.close()
        shop.close()
        billing.close()
    for one in run.services:
        if one.running():
            one.kill()


if __name__ == "__main__":
    harness.main("pools_picture", scenario, own_kafka=True)
