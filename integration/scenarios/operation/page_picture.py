"""The web page of a running service, as a picture. usage: page_picture.py FILE; scripts/screenshot runs it.

One lane is too slow for its load, one has a record that always fails, one is suspended; before that there were an
outage of the web service and a second member that came and went.
"""
import json
import sys
import threading
import time
import urllib.request

import harness
from browser import Browser
from harness import wait_until
from web_service import WebService, record_of

SLOW, FAILING, REFUSED, SUSPENDED = 1, (2, 1010), 3, 4


class Shop(WebService):
    out = threading.Event()

    def judge(self, headers, _):
        partition, offset = record_of(headers)
        if self.out.is_set():
            return 503
        time.sleep(0.19 if partition == SLOW else 0.01)
        if (partition, offset) == FAILING:
            return 500
        return 422 if partition == REFUSED and offset % 1500 == 700 else 204


def scenario(run):
    run.topic, run.group = "orders", "orders-webhook"
    run.create(6)
    shop = Shop()
    options = {"handler": {"simulate": None, "http": {"url": shop.url()}}, "retry": {"attempts": 1000, "max_backoff": "5s"},
               "dead_letter": {"topic": "{topic}-dlt"}, "breaker": {"failures": 5, "probe": "2s"}}
    first = run.service("first", **options)
    run.produce_meanwhile("--rate", 280, "--size", 200)
    run.wait_for_progress(first, 1000)
    browser = Browser(run.folder)
    try:
        browser.open(first.url() + "/", height=1000)
        time.sleep(60)
        shop.out.set()
        time.sleep(15)
        shop.out.clear()
        time.sleep(45)
        second = run.service("second", **options)
        run.wait_for_progress(second, 300)
        second.stop()
        wait_until("all lanes are back", lambda: len(json.loads(first.get("/status"))["lanes"]) == 6)
        ask = urllib.request.Request(f"{first.url()}/lanes/orders/{SUSPENDED}/suspend", method="POST", headers={"X-Laneway": "1"})
        urllib.request.urlopen(ask, timeout=10).close()
        time.sleep(45)
        browser.page.screenshot(path=sys.argv[1], full_page=True)
    finally:
        browser.close()
    for service in run.services:
        if service.running():
            service.kill()


if __name__ == "__main__":
    harness.main("picture", scenario, own_kafka=True)
