"""The actions of an operator: status, a lane suspended and resumed, a stuck record skipped, readyz that turns and turns back.

At the end Prometheus' own tool reads the metrics, and evaluates on them what the dashboard and the alerts ask.
"""
import json
import re
import subprocess
import urllib.error
import urllib.request

import harness
import live_page
from dead_letters import origins_of
from harness import LANEWAY, PATIENCE, Promises, expect, expect_equal, inherited_environment, wait_until
from web_service import WebService, record_of

PARTITIONS, RECORDS, STUCK = 4, 400, (2, 10)
POOLS = {  # so that the metrics of pools exist
    "urgent": {"workers": 2},
    "usual": {"workers": {"min": 2, "max": 16, "algorithm": "aimd"}, "retry_workers": 1, "each": {"by": "key", "workers": 16}},
    "helper": {"helps": ["urgent"]},
}


class Receiver(WebService):
    """Refuses one record as long as the test requires it."""

    def judge(self, headers, _):
        return 500 if record_of(headers) == STUCK else 204


class Operator:
    def __init__(self, service, token):
        self.address, self.token = service.url().removeprefix("http://"), token

    def laneway(self, *arguments, code=0):
        verb = [] if arguments[0] == "status" else ["--token-file", str(self.token)]
        done = subprocess.run([LANEWAY, *arguments, "--admin", self.address, *verb], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, env=inherited_environment())
        expect_equal(code, done.returncode, f"exit code of laneway {' '.join(arguments)}: {done.stdout}")
        return done.stdout

    def status(self):
        return json.loads(self.laneway("status", "--json"))

    def lane(self, partition):
        return next((lane for lane in self.status()["lanes"] if lane["partition"] == partition), None)

    def ready(self):
        """The reasons why the service is not ready; empty if it is ready."""
        try:
            with urllib.request.urlopen(f"http://{self.address}/readyz?format=json", timeout=PATIENCE) as answer:
                found = json.load(answer)
                expect_equal((True, []), (found["ready"], found["reasons"]), "readyz with 200")
                return []
        except urllib.error.HTTPError as error:
            expect_equal(503, error.code, "status of readyz")
            return json.load(error)["reasons"]


def scenario(run):
    run.create(PARTITIONS)
    token = run.folder / "token"
    token.write_text("a-secret-of-the-operators\n")
    token.chmod(0o600)
    receiver = Receiver()
    # Nothing is parked: the record that is skipped is all that its subscriber (each) has, so it would be parked after 10 s.
    service = run.service("webhook", lanes={"park_after": "0s"}, handler={"simulate": None, "http": {"url": receiver.url()}},
                          retry={"attempts": 100000, "backoff": "200ms", "max_backoff": "500ms"},
                          dead_letter={"topic": "{topic}-dlt"}, pools=POOLS,
                          route={"by": "header:priority", "pools": {"high": "urgent", "low": "helper"}, "default": "usual"},
                          admin={"token_file": str(token), "ready": {"stall": "2s"}, "pool_aliases": True})
    operator = Operator(service, token)
    wait_until("it has its lanes", lambda: len(operator.status()["lanes"]) == PARTITIONS)
    wait_until("it is ready", lambda: not operator.ready())
    paused(run, operator)
    skipped(run, operator)
    resumed(run, operator)
    wait_until("it is ready again", lambda: not operator.ready())
    run.wait_for_no_lag()
    check_metrics(run, service)
    expect("a-secret-of-the-operators" not in service.log, "the token is in the log")
    service.stop()
    letters = origins_of(run, run.topic + "-dlt")
    expect_equal([STUCK], list(letters), "dead letters")
    reason, message = letters[STUCK]
    expect_equal("skipped", reason, "why it is a dead letter")
    expect("the order was cancelled" in message and "500" in message, f"its message: {message}")
    check_audit(run, service)
    report = run.judge(Promises(stopped_clean=True), letters=[run.topic + "-dlt"])
    expect_equal((PARTITIONS + 1) * RECORDS, report["processed"], "processed records, the dead letter counted")


def check_audit(run, service):
    """The log has the actions of operators, and the refused requests, in order."""
    partition, offset = STUCK
    for what, expected in {
            "suspend requested": [f"topic={run.topic} partition=1 changed=true"],
            "resume requested": [f"topic={run.topic} partition=all changed=true"],
            "skip requested": [f'topic={run.topic} partition={partition} offset={offset + 1} reason="a mistake" outcome="',
                             f'topic={run.topic} partition={partition} offset={offset} reason="the order was cancelled" outcome="'],
    }.items():
        lines = service.events(what)
        expect(len(lines) == len(expected) and all("level=warn " in line for line in lines),
               f"lines of {what!r}: {lines}")
        for words, line in zip(expected, lines):
            expect(words in line, f"no {words!r} in the log's {line!r}")
    refused, done = (line.split("outcome=")[1] for line in service.events("skip requested"))
    expect("is not in the lane" in refused, f"outcome of the refused skip: {refused}")
    expect("goes to the dead-letter topic" in done, f"outcome of the skip: {done}")


def promtool(*arguments, **more):
    done = subprocess.run([harness.ROOT / "scripts" / "promtool", *arguments], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=PATIENCE, **more)
    expect_equal(0, done.returncode, f"exit code of promtool {arguments[0]}: {done.stdout}")
    return done.stdout


def check_metrics(run, service):
    """Also of what comes with events: there is a dead letter, and the downstream has a breaker."""
    page = service.get("/metrics")
    expect(re.search(r"^pool_inflight{", page, re.MULTILINE), "the pool's metrics have no second name")
    expect_equal("", promtool("check", "metrics", input=page), "what promtool says of the metrics")
    queries = run.folder / "queries.test.yml"
    queries.write_text(live_page.test_file(page))
    promtool("test", "rules", queries)


def paused(run, operator):
    """One lane waits, with its lag growing, while the others go on."""
    operator.laneway("suspend", f"{run.topic}[1]")
    wait_until("the lane is suspended", lambda: operator.lane(1)["suspended"])
    for partition in range(PARTITIONS):
        if partition != STUCK[0]:
            run.produce("--count", RECORDS, "--size", 100, "--partitions", partition)
    wait_until("the others have no lag", lambda: {lane["lag"] for lane in operator.status()["lanes"]
                                                  if lane["partition"] != 1} == {0})
    wait_until("the lane is held", lambda: operator.lane(1)["state"] == "suspended")
    run.produce("--count", RECORDS, "--size", 100, "--partitions", 1)
    wait_until("the lag of the suspended lane grows", lambda: operator.lane(1)["lag"] == 2 * RECORDS)
    expect_equal([], operator.ready(), "reasons why a service with a suspended lane is not ready")
    expect_equal([f"{run.topic}:1"], operator.status()["suspended"], "the lanes that the status calls suspended")
    table = operator.laneway("status").partition("\n\n")[2]  # sentences above the tables may be longer than a line
    width = 80 + max(0, len(f"{run.topic}:1") - 14)  # the name of the topic has a number of any length
    expect("suspended" in table and all(len(line) <= width for line in table.splitlines()), f"the table: {table}")
    operator.laneway("pause", f"{run.topic}:{PARTITIONS}", code=66)  # the verb's older name


def resumed(run, operator):
    operator.token.chmod(0o644)
    operator.laneway("resume", f"{run.topic}:1", code=78)  # everyone may read it
    operator.token.chmod(0o600)
    operator.laneway("resume", run.topic)
    wait_until("the lane takes records again", lambda: operator.lane(1)["lag"] == 0)


def skipped(run, operator):
    """A record that can never work holds up its partition's commits until it is skipped. It is a reason not to be ready, unlike
    the suspended lane, which has stood still for longer."""
    partition, offset = STUCK
    run.produce("--count", RECORDS, "--size", 100, "--partitions", partition)

    def told():
        reasons = operator.ready()
        return ([("stalled", partition)] == [(reason["code"], reason.get("partition")) for reason in reasons]
                and f"oldest record {run.topic}:{partition}:{offset}," in reasons[0]["text"] and "500" in reasons[0]["text"])
    wait_until("it is not ready for the stuck record alone", told)
    print(operator.laneway("status"))
    record = f"{run.topic}:{partition}:{offset}"
    operator.laneway("skip", f"{run.topic}:{partition}:{offset + 1}", "--reason", "a mistake", code=66)
    print(operator.laneway("skip", record, "--reason", "the order was cancelled"))


if __name__ == "__main__":
    harness.main("control", scenario)
