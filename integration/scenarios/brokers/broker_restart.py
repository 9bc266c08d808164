"""The only broker is killed and comes back under load: the service goes on by itself, and nothing is lost. Then the broker is frozen, as
by a disk that does not answer: its connections stay open. The service is not ready, an alert fires, and the service goes on when the
broker does."""
import json
import os
import re
import signal
import urllib.error

import alerts
import harness
import held_page
from control import promtool
from harness import Promises, expect_equal, wait_until


def scenario(run):
    run.create(4)
    run.watch_commits()
    service = run.service("service", handler={"simulate": {"sleep": "5ms"}}, kafka=harness.SHORT_SESSION)
    run.produce_meanwhile("--rate", 500)
    run.wait_for_progress(service, 500)
    settled = service.settled(run.has_no_lag)
    run.kafka("restart", "--kill")
    run.wait_for_progress(service, service.processed() + 500)
    run.finish_writing()
    run.wait_for_no_lag()
    frozen(run, service)
    run.produce("--count", 500)
    run.wait_for_no_lag()
    service.stop()
    # Commits may have gone unanswered: then records that finished meanwhile run again, but no older ones.
    run.judge(Promises(stopped_clean=True, duplicates=10000, settled=settled))


def frozen(run, service):
    wait_until("the service is ready", lambda: not unready(service))
    broker = int(re.search(r" pid (\d+)", run.kafka("status"))[1])
    os.kill(broker, signal.SIGSTOP)
    try:
        code = wait_until("the service is not ready while the broker is frozen", lambda: unready(service))
        alerts.wait_for(service, code)
    finally:
        os.kill(broker, signal.SIGCONT)
    wait_until("the service is ready again", lambda: not unready(service))
    file = run.folder / "frozen.test.yml"
    test = held_page.held("frozen", alerts.pages[code], held_page.firing("LanewayNotReady", reason=code))
    file.write_text(held_page.test_file([test]))
    promtool("test", "rules", file)


def unready(service):
    """The code of the first reason; empty when the service is ready."""
    try:
        service.get("/readyz")
    except urllib.error.HTTPError as error:
        expect_equal(503, error.code, "status of /readyz")
    reasons = json.loads(service.readiness("/readyz?format=json"))["reasons"]
    return reasons[0]["code"] if reasons else ""


if __name__ == "__main__":
    harness.main("broker-restart", scenario, own_kafka=True)
