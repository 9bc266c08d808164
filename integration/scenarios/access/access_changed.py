"""The password is changed at the brokers while the service runs: the service reports this, keeps its records, and goes on when
the password is right again.

The brokers ask for a login again every few seconds, so that the change is noticed. Each change is made in both ways: the old
password is given back, and the service is restarted with the new one. Nothing is lost.
"""
import signal

import harness
from access_logins import Logins, old_client
from harness import expect, wait_until

REFUSED = "refuses the user or the password"


def is_refused(service, change):
    before = service.log.count(REFUSED)
    change()
    wait_until("the refusal is told", lambda: service.log.count(REFUSED) > before)
    expect("kafka.sasl.password" in service.log, "the log does not name the key to change")


def scenario(run):
    if old_client():
        print("the linked client cannot log in by SCRAM (access.py shows how it says so)")
        return
    user = run.group

    def password(word):
        run.kafka("password", f"{user}={word}")

    run.create(2)
    password("first")
    run.tool("grant", user, "topic", run.topic, "describe", "read")
    run.tool("grant", user, "group", run.group, "describe", "read")
    kafka = {**Logins(run).again_and_again(user, "first"), **harness.SHORT_SESSION}
    service = run.service("first", kafka=kafka)
    run.produce_meanwhile("--rate", 200)
    run.wait_for_progress(service, 200)
    is_refused(service, lambda: password("second"))
    password("first")
    run.wait_for_progress(service, service.processed() + 300)
    is_refused(service, lambda: password("second"))
    service.signal(signal.SIGTERM)
    expect(service.wait(harness.PATIENCE) in (0, 75), f"exit code {service.process.returncode} of a stop without access")
    second = run.service("second", kafka={**kafka, "sasl.password": "second"})
    run.wait_for_progress(second, 300)
    run.finish_writing()
    run.wait_for_no_lag()
    second.stop()
    # Records that finished while nothing could be committed run again.
    run.judge(harness.Promises(stopped_clean=False, duplicates=10000))


if __name__ == "__main__":
    harness.main("access-changed", scenario, access=True)
