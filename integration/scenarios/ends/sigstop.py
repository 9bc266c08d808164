"""Processes are stopped (SIGSTOP) and go on (SIGCONT) as if no time had passed.

work: for longer than every deadline. One process posts to a web service, one gives its records to a program. Both have running
records when they are stopped, and are answered while they are stopped, one half of the requests after they go on. No attempt
is out of time, no handler is stuck, no breaker opens, and the health is good at once. They are stopped again in mid-work,
and while they drain.

group: at the moments at which two members depend on each other: while one starts, while they rebalance, while one drains. The
oracle judges what they have done.
"""
import json
import signal
import sys
import threading
import time
import urllib.request

import harness
from harness import Promises, expect, expect_equal, wait_until
from web_service import WebService, record_of

STORY = sys.argv[1] if len(sys.argv) > 1 else "work"
PARTITIONS, RECORDS, WORKERS = 4, 400, 2
TIMEOUT = 8  # s, of an attempt
STOPPED = 20  # s: longer than that, than what makes a handler stuck (10 s more) and a loop hang (10 s)
BRIEFLY = 3  # s

PROGRAM = """
import json, os, sys, time

folder = sys.argv[1]
for line in sys.stdin:
    record = json.loads(line)
    open(f"{folder}/begun-{os.getpid()}", "w").close()
    while not os.path.exists(f"{folder}/answer"):
        time.sleep(0.01)
    with open(f"{folder}/handled", "a") as handled:
        handled.write(f"{record['attempt']}\\n")
    print(json.dumps({"id": record["id"], "outcome": "done"}), flush=True)
"""


class Holding(WebService):
    """Requests wait until they may be answered: those of even offsets, or all."""

    def __init__(self):
        self.attempts, self.held = [], 0
        self.even, self.odd = threading.Event(), threading.Event()
        super().__init__()

    def hold(self):
        self.even.clear()
        self.odd.clear()

    def answer(self):
        self.even.set()
        self.odd.set()

    def judge(self, headers, body):
        offset = record_of(headers)[1]
        with self.lock:
            self.attempts.append(int(headers["Laneway-Attempt"]))
            self.held += 1
        (self.odd if offset % 2 else self.even).wait()
        with self.lock:
            self.held -= 1
        return 204


def livez(service):
    with urllib.request.urlopen(service.url() + "/livez", timeout=5) as answer:
        return answer.status


def stop_for(services, duration, meanwhile=lambda: None):
    for service in services:
        service.signal(signal.SIGSTOP)
    meanwhile()
    time.sleep(duration)  # which is what is tested
    for service in services:
        service.signal(signal.SIGCONT)


def work(run):
    run.create(PARTITIONS)
    receiver = Holding()
    folder = run.folder / "program"
    folder.mkdir()
    (run.folder / "program.py").write_text(PROGRAM)
    common = {"lanes": {"workers": WORKERS}, "breaker": {"failures": 2}, "retry": {"attempts": 2}}
    posts = run.service("posts", handler={"simulate": None, "http": {"url": receiver.url(), "timeout": f"{TIMEOUT}s"}},
                        **common)
    pipes = run.service("pipes", **common, kafka={"group.id": run.group + "-exec"},
                        journal={"file": str(run.folder / "pipes.journal")},
                        handler={"simulate": None, "exec": {
                            "command": [sys.executable, str(run.folder / "program.py"), str(folder)],
                            "timeout": f"{TIMEOUT}s"}})
    services = [posts, pipes]
    receiver.answer()
    (folder / "answer").touch()
    run.produce("--count", RECORDS)
    wait_until("all is done once", lambda: all(s.processed() >= RECORDS for s in services))

    receiver.hold()
    (folder / "answer").unlink()
    for begun in folder.glob("begun-*"):
        begun.unlink()
    run.produce_meanwhile("--count", RECORDS)
    wait_until("requests are held, and programs have a record", every=0.01,
               condition=lambda: receiver.held > 0 and any(folder.glob("begun-*")))

    def answer():
        receiver.even.set()
        (folder / "answer").touch()
    stop_for(services, STOPPED, answer)
    expect_equal([200, 200], [livez(service) for service in services], "/livez after SIGCONT")
    receiver.odd.set()
    run.finish_writing()
    wait_until("all is done again", lambda: all(s.processed() >= 2 * RECORDS for s in services))

    stop_for(services, BRIEFLY)
    stop_for(services, BRIEFLY)
    run.produce("--count", RECORDS)
    stop_for(services, BRIEFLY)
    wait_until("all is done", lambda: all(s.processed() >= 3 * RECORDS for s in services))
    for service in services:
        status = json.loads(service.get("/status"))
        expect_equal("closed", status["breaker"]["state"], f"the breaker of {service.name}")
        expect_equal(0, service.metric("dead_letters_total"), "dead letters")
        expect(service.events("the process stood still"), f"{service.name} does not say that it stood still")
        for event in ("handler stuck", "lane paused", "record failed", "exec program failed"):
            expect_equal([], service.events(event), f"{service.name}: {event}")
        expect_equal(0, service.journaled("timeout") + service.journaled("retry"), f"attempts of {service.name} that failed")
    for service in services:
        service.signal(signal.SIGTERM)
    stop_for(services, BRIEFLY)
    expect_equal([0, 0], [service.wait(40) for service in services], "exit codes")
    expect_equal({1}, set(receiver.attempts), "attempts of requests")
    expect_equal({"1"}, set((folder / "handled").read_text().split()), "attempts of programs")


def group(run):
    run.create(PARTITIONS)
    run.watch_commits()
    run.produce_meanwhile("--rate", 400)
    settings = {"handler": {"simulate": {"sleep": "20ms", "timeout": "1s"}}, "commit": {"interval": "100ms"}}

    def soon(what, condition):
        wait_until(what, condition, every=0.01)

    first = run.service("first", **settings)
    soon("the first one joins", lambda: first.events("consuming"))
    stop_for([first], BRIEFLY)
    wait_until("the first one works", lambda: first.processed() > 0)
    second = run.service("second", **settings)
    soon("the first one gives partitions back", lambda: first.events("partitions revoked"))
    stop_for([first, second], BRIEFLY)
    wait_until("the second one works", lambda: second.processed() > 0)
    stop_for([second], BRIEFLY)
    second.signal(signal.SIGTERM)
    soon("the second one drains", lambda: second.events("lane draining"))
    stop_for([second, first], BRIEFLY)
    expect_equal(0, second.wait(40), "exit code of the second one")
    run.finish_writing()
    run.wait_for_no_lag()
    first.stop()
    for member in (first, second):
        expect(member.events("the process stood still"), f"{member.name} does not say that it stood still")
        expect_equal([], member.events("handler stuck"), f"stuck handlers of {member.name}")
        expect_equal([], member.events("partitions lost"), f"{member.name} lost its partitions")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main(f"sigstop-{STORY}", {"work": work, "group": group}[STORY])
