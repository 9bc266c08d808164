"""A hundred reloads under load, by SIGHUP and by `laneway reload`; each fifth is a configuration that must be refused.

Nothing is lost, nothing runs twice, the group does not rebalance, and at the end there are no more threads and descriptors
than at the beginning.
"""
import json
import os
import re
import signal
import subprocess

import harness
from harness import LANEWAY, PATIENCE, Promises, expect, expect_equal, inherited_environment, merged, wait_until

PARTITIONS, MEMBERS, RELOADS = 4, 2, 100
SETTINGS = {"handler": {"simulate": {"sleep": {"p50": "2ms", "p99": "20ms"}, "fail": 0.005}}, "consumers": MEMBERS,
            "lanes": {"workers": 4, "queue": 64}, "retry": {"backoff": "20ms", "max_backoff": "200ms"}}
# Each mistake, and its message.
REFUSED = [
    ({"lanes": {"wrokers": 3}}, r"reload\.yaml:\d+:\d+: lanes\.wrokers: .*workers"),
    ({"lanes": {"workers": 0}}, r"reload\.yaml:\d+:\d+: lanes\.workers: .*expected a whole number"),
    ({"lanes": {"workers": 9}, "consumers": 7}, r"consumers: 2 → 7: needs a restart: "),
    ({"lanes": {"workers": 9}, "kafka": {"max.poll.interval.ms": 400000}}, r"kafka\.max\.poll\.interval\.ms: .* needs a restart: "),
    ("topics: [", r"reload\.yaml:\d+:\d+: "),
]


def wanted(number):
    """Settings that differ from those before and after in several ways."""
    return {"lanes": {"workers": [2, 8, 1, 16][number % 4], "queue": [256, 0, 16][number % 3],
                      "rate": {"records": [0, 1000][number % 2]}, "pause_after": f"{100 + number}ms"},
            "rate": {"records": [0, 0, 3000][number % 3]},
            "retry": {"backoff": f"{10 + number}ms"},
            "breaker": {"failures": number % 3},
            "commit": {"interval": f"{200 + number}ms"},
            "log": {"level": ["info", "debug"][number % 2]}}


class Operator:
    """Changes the service's file and makes it read it."""

    def __init__(self, run, service):
        self.run, self.service, self.file = run, service, run.folder / "reload.yaml"
        self.address = service.url().removeprefix("http://")

    def write(self, changes):
        text = changes if isinstance(changes, str) else json.dumps(merged(self.service.settings, changes), indent=1)
        new = self.file.with_suffix(".new")
        new.write_text(text)
        new.rename(self.file)

    def answers(self):
        """Lines of the log that end a reload by SIGHUP."""
        return [line for line in self.service.log.splitlines(keepends=True) if "by=SIGHUP" in line and line.endswith("\n")]

    def by_signal(self):
        """The log lines of the reload."""
        before = len(self.answers())
        self.service.signal(signal.SIGHUP)
        wait_until("SIGHUP is answered", lambda: len(self.answers()) > before, every=0.05)
        return "".join(self.answers()[before:])

    def by_command(self, *options):
        """Its exit code and what it prints."""
        done = subprocess.run([LANEWAY, "reload", "--admin", self.address, *options], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, env=inherited_environment())
        return done.returncode, done.stdout

    def change(self, number):
        self.write(wanted(number))
        if number % 2:
            said = self.by_signal()
            expect("msg=reloaded by=SIGHUP" in said, f"reload {number}: {said}")
        else:
            code, said = self.by_command()
            expect_equal(0, code, f"exit code of reload {number}: {said}")
            expect(re.search(r"settings changed:\n(.*\n)*lanes\.workers: \d+ → \d+\n", said), f"reload {number}: {said}")

    def be_refused(self, number):
        changes, pattern = REFUSED[number // 5 % len(REFUSED)]
        self.write(changes)
        if number % 2:
            said = self.by_signal()
            expect("reload refused" in said, f"reload {number}: {said}")
        else:
            code, said = self.by_command()
            expect_equal(78, code, f"exit code of reload {number}: {said}")
        expect(re.search(pattern, said), f"reload {number} says {said}")


def threads(service):
    return len(os.listdir(f"/proc/{service.process.pid}/task"))


def descriptors(service):
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def scenario(run):
    run.create(PARTITIONS)
    service = run.service("reload", **SETTINGS)
    wait_until("each member has lanes", lambda: {lane["member"] for lane in lanes(service)} == {1, 2}
               and len(lanes(service)) == PARTITIONS)
    assigned = service.metric("rebalances_total")
    idle = threads(service)
    run.produce("--count", 400, "--size", 100)
    run.wait_for_no_lag()
    opened = descriptors(service)
    operator = Operator(run, service)
    run.produce_meanwhile("--rate", 500, "--size", 100)
    for number in range(RELOADS):
        if number % 5 == 4:
            operator.be_refused(number)
        else:
            operator.change(number)
    quiet(operator)
    only_looked_at(service, operator)
    run.finish_writing()
    run.wait_for_no_lag()
    expect_equal(assigned, service.metric("rebalances_total"), "rebalances")
    wait_until(f"there are {idle} threads again", lambda: threads(service) <= idle, every=0.5)
    wait_until(f"there are {opened} descriptors again", lambda: descriptors(service) <= opened, every=0.5)
    print(f"threads {idle} before, {threads(service)} after; descriptors {opened} before, {descriptors(service)} after")
    service.stop()
    expect_equal(RELOADS * 4 // 5 + 1, len(service.events("reloaded")), "reloads")
    run.judge(Promises(stopped_clean=True))


def lanes(service):
    return json.loads(service.get("/status"))["lanes"]


def quiet(operator):
    """A reload that is in force is itself not logged at level warn; the number of those that are is counted at the end."""
    operator.write(merged(wanted(RELOADS - 2), {"log": {"level": "warn"}}))
    code, said = operator.by_command()
    expect_equal((0, "1 setting changed:\nlog.level: info → warn\n"), (code, said), "the reload to level warn")


def only_looked_at(service, operator):
    """A dry run says what would change; the file as it was at the start brings everything back."""
    operator.write({})
    code, said = operator.by_command("--dry-run")
    expect_equal(0, code, f"exit code of a dry run: {said}")
    expect("settings would be changed:" in said, said)
    expect_equal((0, said.replace("would be changed", "changed")), operator.by_command(), "the reload after a dry run")
    # Each member's loop takes the new settings in its next turn.
    room = PARTITIONS * SETTINGS["lanes"]["queue"]
    wait_until(f"the queues have room for {room}", lambda: service.metric("pool_queue_capacity") == room)
    expect_equal((0, "nothing has changed\n"), operator.by_command("--dry-run"), "a dry run of the same file")


if __name__ == "__main__":
    harness.main("reload", scenario)
