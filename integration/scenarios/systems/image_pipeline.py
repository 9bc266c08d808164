"""The image pipeline (config/examples/image-pipeline.yaml): images that are none, a program that is killed, a store that is out, a
member that joins, and a kill -9 of another one and of the front. Every image that a client has a 202 for is stored in three sizes,
or is a dead letter if it is no image or cannot be fetched.
"""
import json
import os
import signal
from pathlib import Path

import harness
from harness import Promises, expect, expect_equal, wait_until
from tools.demo.images.around import Around
from tools.demo.images.clients import Sender
from tools.demo.processes import Process
from tools.ports import free_port

CONFIG = "config/examples/image-pipeline.yaml"
PARTITIONS, RATE, IMAGES, CAPACITY = 4, 25, 400, 100
NONE = 4  # images of each kind that can never be stored; fewer than breaker.failures, for those that are tried again
ENOUGH = 40  # images of a member that works


def resizing(service):
    """The processes of this member that resize images."""
    def of_member(folder):
        try:
            return f"PPid:\t{service.process.pid}\n" in (folder / "status").read_text() and b"resize.py" in (folder / "cmdline").read_bytes()
        except OSError:
            return False
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if of_member(folder)]


def breaker(service, pool):
    return next(one["breaker"]["state"] for one in json.loads(service.get("/status"))["pools"] if one["name"] == pool)


def start(run, around):
    around.start_s3()
    wait_until("the S3 server listens", lambda: around.listens(around.s3_port))
    around.start_services()
    wait_until("the web services listen", lambda: around.listens(around.port))
    return start_front(run, around)


def start_front(run, around):
    front = around.start_front(run.bootstrap, run.topic, run.group, "--capacity", CAPACITY)
    wait_until("the front listens", lambda: around.listens(around.front_port))
    return front


def send_what_is_none(around):
    """The ids of the images that can never be stored."""
    originals = around.clients.originals
    sources = {"broken": f"{originals}/broken.jpg", "missing": f"{originals}/missing.jpg", "nowhere": "http://127.0.0.1:99999/1.jpg",
               "refused": f"http://127.0.0.1:{free_port()}/1.jpg"}  # nothing listens there
    names = {f"{kind}-{number}": source for kind, source in sources.items() for number in range(NONE)}
    for name, source in names.items():
        expect_equal(202, around.clients.send(name, source).status, f"the answer to {name}")
    return set(names)


def story(run, around):
    run.create(PARTITIONS)
    run.watch_commits()
    front, settings = start(run, around), {**around.settings(), "breaker__probe": "200ms"}
    letters = send_what_is_none(around)
    first = run.example("first", CONFIG, **settings)
    sender = Sender(around.clients, RATE, IMAGES)
    run.wait_for_progress(first, ENOUGH)

    os.kill(wait_until("a program resizes", lambda: resizing(first))[0], signal.SIGKILL)
    around.store_becomes(status=503)
    wait_until("the store's breaker is open", lambda: breaker(first, "store") == "open")
    wait_until("the front refuses images", lambda: any(reply.status == 429 for reply in sender.replies))
    expect(max(reply.took for reply in sender.replies) < 30, "a request waited for the store")
    around.store_becomes()
    wait_until("the store's breaker is closed", lambda: breaker(first, "store") == "closed")

    second = run.example("second", CONFIG, **settings)
    run.wait_for_progress(second, ENOUGH)
    settled = first.settled(run.has_no_lag)
    first.kill()
    front.kill()
    front = start_front(run, around)
    expect(around.clients.state()["depth"] <= CAPACITY, "the front has forgotten its bound")
    wait_until("every image is accepted", sender.done)
    run.wait_for_no_lag()
    second.stop()
    front.stop()
    expect_equal(0, front.process.wait(harness.PATIENCE), "exit code of the front")

    found = {bytes.fromhex(json.loads(line)["key"]).decode() for line in run.tool("read", f"{run.topic}-dlt")}
    stored, accepted = around.audit(), around.clients.accepted()
    expect_equal(letters, found, "dead letters")
    expect_equal({}, {name: problems for name, problems in stored.items() if problems}, "images that are not as they should be")
    expect_equal(accepted - letters, set(stored), "the images that are stored")
    expect_equal(IMAGES, len(stored), "the number of images")
    run.judge(Promises(stopped_clean=True, duplicates=first.successes_since(settled), settled=settled), letters=[f"{run.topic}-dlt"])


def scenario(run):
    programs = []

    def program(name, command, variables):
        programs.append(Process(name, command, run.folder, variables))
        return programs[-1]
    around = Around(program, run.folder)
    around.acks = run.writing.acks
    try:
        story(run, around)
    finally:
        for process in programs:
            process.end()


if __name__ == "__main__":
    harness.main("image-pipeline", scenario)
