"""Each state in which /readyz is not ready raises an alert, if what /metrics shows in it stays for two hours. So does a service that
cannot start and is started again and again. Where the service is ready, no alert fires.
"""
import threading

import harness
import held_page
from control import promtool
from corrupt import EACH, corrupt
from harness import PLUGINS, expect, expect_equal, wait_until
from lost_coordinator import LostCoordinator
from proxy import Proxy
from web_service import WebService, record_of

RECORDS = 6000
SESSION = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 1000}
pages = {}  # by the code of the reason


def has_reason(service, code):
    """Whether /readyz and /metrics have it at once; then the page is kept."""
    page = service.get("/metrics")
    if f'"code":"{code}"' not in service.readiness("/readyz?format=json"):
        return False
    values = held_page.series_of(page)
    if values[f'laneway_not_ready_reasons{{reason="{code}",{held_page.SCRAPED}}}'] == "0":
        return False
    pages[code] = page
    return True


def wait_for(service, code):
    wait_until(f"{service.name} is not ready: {code}", lambda: has_reason(service, code), every=0.3)


def starting(run):
    """A service that cannot start, in two of its lives."""
    lives = []
    for life in ("first", "second"):
        service = run.service(life, kafka={"bootstrap.servers": "127.0.0.1:1"}, start_deadline="10s")
        wait_for(service, "starting")
        lives.append(pages["starting"])
        expect_equal(69, service.wait(harness.PATIENCE), "exit code of a service that cannot start")
    pages["crash loop"] = lives


def stopping(run):
    with run.part("alerts-stopping") as part:
        part.create(1)
        part.produce("--count", 1)
        service = part.service("stopping", handler={"simulate": {"sleep": "10m", "timeout": "1h"}}, lanes={"drain": "60s"})
        wait_until("a record runs", lambda: service.metric("pool_inflight") == 1)
        service.signal(15)
        wait_for(service, "stopping")


def rebalancing_and_unassigned(run):
    """`first` has joined again, `second` drains a record for a minute, `third` is new."""
    with run.part("alerts-group") as part:
        part.create(2)
        first = part.service("first-member", kafka={**SESSION, "max.poll.interval.ms": 6000}, lanes={"drain": "2s"})
        second = part.service("second-member", handler={"simulate": {"sleep": "10m", "timeout": "1h"}}, lanes={"drain": "60s"})
        for member in (first, second):
            wait_until(f"{member.name} has its partition", lambda one=member: one.metric("lane_state", state="running") == 1)
        wait_until("each has one", lambda: [one.metric("lane_state", state="running") for one in (first, second)] == [1, 1])
        part.produce("--count", 20)
        wait_until("a record runs", lambda: second.metric("pool_inflight") > 0)
        third = part.service("third-member")
        wait_for(third, "unassigned")
        wait_for(first, "rebalancing")


def no_broker(run):
    """All brokers vanish behind records that wait, and the session ends."""
    proxy = Proxy(run.bootstrap)
    with run.part("alerts-brokers") as part:
        part.create(2)
        service = part.service("cut-off", kafka={"bootstrap.servers": proxy.bootstrap(), **SESSION},
                               handler={"simulate": {"sleep": "10m", "timeout": "1h"}}, lanes={"drain": "5s"})
        wait_until("it has its lanes", lambda: service.metric("lane_state", state="running") == 2)
        wait_until("it is ready", lambda: '"ready":true' in service.readiness("/readyz?format=json"))
        pages["ready"] = service.get("/metrics")
        part.produce("--count", RECORDS)
        wait_until("it lags", lambda: service.metric("lane_lag_records") == RECORDS)
        proxy.stop()
        wait_until("its partitions are lost", lambda: service.metric("lane_state", state="lost") == 2)
        wait_until("no broker has answered for a while", lambda: service.metric("without_broker_seconds") > 15)
        wait_for(service, "no_broker")
        expect_equal(RECORDS, service.metric("lane_lag_records"), "the lag that was last known")


def no_coordinator(run):
    """No client learns it, so new members would not help."""
    with LostCoordinator(run.bootstrap) as proxy, run.part("alerts-coordinator") as part:
        part.create(1)
        service = part.service("no-coordinator", kafka={"bootstrap.servers": proxy.bootstrap(), **SESSION})
        wait_until("it has its lane", lambda: service.metric("lane_state", state="running") == 1)
        proxy.hide_from_all()
        wait_for(service, "no_coordinator")


def breaker_open(run):
    with run.part("alerts-breaker") as part:
        part.create(1)
        part.produce("--count", 50)
        wait_for(part.service("breaker", handler={"simulate": None, "http": {"url": "http://127.0.0.1:1/orders"}}), "breaker_open")


def unreadable(run):
    with run.part("alerts-unreadable") as part:
        part.create(1)
        for _ in range(3):
            part.produce("--count", EACH)
        corrupt(part, 0, EACH)
        wait_for(part.service("unreadable", kafka={"check.crcs": True}), "unreadable")


class Receiver(WebService):
    """Does not answer record 0 before the end."""

    def __init__(self, status):
        self.status, self.released = status, threading.Event()
        super().__init__()

    def judge(self, headers, _):
        if record_of(headers)[1] > 0:
            self.released.wait(0.1)
            return 204
        if self.status is None:
            self.released.wait(harness.PATIENCE * 2)
        return self.status or 204


def with_one_bad_record(run, code, status, records, **settings):
    receiver = Receiver(status)
    with run.part(f"alerts-{code}") as part:
        part.create(1)
        part.produce("--count", records)
        service = part.service(code, handler={"simulate": None, "http": {"url": receiver.url(), "timeout": "10m"}},
                               breaker={"failures": 0}, admin={"ready": {"stall": "2s"}}, retry={"attempts": 100000}, **settings)
        wait_for(service, code)
        receiver.released.set()


def stalled(run):
    with_one_bad_record(run, "stalled", 500, 20)


def held(run):
    """The window is full, and the others go on slowly."""
    with_one_bad_record(run, "held", None, 1500, lanes={"workers": 2, "queue": 2000, "max_incomplete": 1000})


def stuck(run):
    with run.part("alerts-stuck") as part:
        part.create(1)
        part.produce("--count", 800)
        waits = part.folder / "ignores-its-stop"
        waits.touch()
        plugin = {"library": str(PLUGINS / "trouble.so"), "timeout": "1s", "config": {"crashed": str(waits)}}
        wait_for(part.service("stuck", handler={"simulate": None, "plugin": plugin}), "stuck")
        waits.unlink()


def alerts_of(code):
    """More than the alert on readiness, where there is more to say."""
    more = {"no_broker": ["LanewayNoBroker", "LanewayNoProgress"], "breaker_open": ["LanewayBreakerOpen"],
            "stuck": ["LanewayHandlerStuck"], "stalled": ["LanewayNoProgress"]}
    return [held_page.firing("LanewayNotReady", reason=code)] + [held_page.firing(alert) for alert in more.get(code, [])]


def scenario(run):
    harness.at_once(run, [starting, stopping, rebalancing_and_unassigned, no_broker, no_coordinator, breaker_open, unreadable, stalled,
                          held, stuck])
    codes = held_page.reason_codes()
    expect(len(codes) > 5, "the reasons were not found in the sources")
    tests = [held_page.held(code, pages[code], *alerts_of(code)) for code in codes]
    tests.append(held_page.held("ready", pages["ready"], held_page.NONE_FIRES))
    tests.append(held_page.restarted("crash loop", pages["crash loop"], held_page.firing("LanewayRestarting"),
                                     held_page.firing("LanewayNotReady", reason="starting")))
    file = run.folder / "held.test.yml"
    file.write_text(held_page.test_file(tests))
    promtool("test", "rules", file)


if __name__ == "__main__":
    harness.main("alerts", scenario)
