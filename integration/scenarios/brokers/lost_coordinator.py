"""A member loses the coordinator of its group, although the broker answers.

`moved`: the only broker comes back at another address, with the same number: the service goes on there. `hidden`: the member's client
learns no coordinator any more, while a new client does: new members go on; when their clients lose it as well, the process ends for a
restart. `away`: no client learns it: that is an outage, in which the service waits.
"""
import sys

import harness
from harness import Promises, expect, expect_equal, wait_until
from lost_coordinator import LostCoordinator

# A new client looks for the coordinator after twice this time without one.
QUICK = {"socket.timeout.ms": 2000, "topic.metadata.refresh.interval.ms": 1000, "session.timeout.ms": 6000, "heartbeat.interval.ms": 500}
RECORDS = 200
RENEWED = "starting over to find the coordinator of the group"
UNREACHED = "a member has no coordinator of its group, and a new client does not reach it either"


def moved(run, proxy, service):
    proxy.go_down()
    wait_until("no broker is connected", lambda: "no connection to a broker" in service.readiness())
    proxy.come_back_elsewhere()
    run.produce("--count", RECORDS)
    run.wait_for_progress(service, 2 * RECORDS)
    run.wait_for_no_lag()
    wait_until("the service is ready", lambda: service.readiness().strip() == "ready")
    service.stop()


def hidden(run, proxy, service):
    proxy.hide()
    wait_until("new members take over", lambda: len(service.events(RENEWED)) == 1)
    run.produce("--count", RECORDS)
    run.wait_for_progress(service, 2 * RECORDS)
    run.wait_for_no_lag()
    with proxy.hiding_again_and_again():
        expect_equal(70, service.wait(120), "the exit code")
    expect("new members did not help" in service.log, "the log says why the process ended")


def away(run, proxy, service):
    proxy.hide_from_all()
    wait_until("a new client has looked for it twice", lambda: len(service.events(UNREACHED)) >= 2)
    proxy.show()
    run.produce("--count", RECORDS)
    run.wait_for_progress(service, 2 * RECORDS)
    run.wait_for_no_lag()
    expect_equal([], service.events(RENEWED), "new members")
    service.stop()


STORIES = {story.__name__: story for story in (moved, hidden, away)}


def scenario(run):
    run.create(3)
    run.watch_commits()
    run.produce("--count", RECORDS)
    with LostCoordinator(run.bootstrap) as proxy:
        service = run.service("service", kafka={"bootstrap.servers": proxy.bootstrap(), **QUICK})
        run.wait_for_progress(service, RECORDS)
        STORIES[sys.argv[1]](run, proxy, service)
    # What was not committed when the coordinator was lost runs again.
    run.judge(Promises(duplicates=2 * RECORDS))


if __name__ == "__main__":
    harness.main("lost-coordinator", scenario)
