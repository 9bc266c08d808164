"""A SIGTERM under load ends each example with exit code 0, three of three times: its drain is long enough.

usage: examples_stopped NAME [ROUNDS], where NAME is one of config/examples. Each has the load that its page describes, and more than
it can do: two of ten subscribers are dead, of which one answers nothing, and the others get twice their rate; a flood of each
priority; images as fast as the front takes them; a backlog in each partition.
"""
import contextlib
import re
import sys
import time

import harness
import image_pipeline
import notifications
import priority_tiers
from harness import PLUGINS, expect_equal, wait_until
from tools.demo.deliveries import as_json
from tools.demo.images.around import Around
from tools.demo.images.clients import Sender
from tools.demo.processes import Process
from tools.demo.receivers import Receiver, write_subscribers

ROUNDS = 3
SUBSCRIBERS, RATE = 10, 20  # events a second, of the ten that each subscriber takes
BACKLOG = 60_000  # records for each round; the examples without pools do 8,000/s and 12,000/s


def webhook_fanout(run, cleanup):
    receivers = [Receiver(f"subscriber-{number}") for number in range(SUBSCRIBERS)]
    for receiver in receivers:
        cleanup.enter_context(contextlib.closing(receiver))
    receivers[0].die()
    receivers[1].die(503)
    file = run.folder / "subscribers.yaml"
    write_subscribers(file, receivers)
    run.create(4)
    run.produce_meanwhile("--rate", RATE, "--header", "type=order.created", "--value", as_json(rest="." * 1000))
    return {"pools__fan__handler__fan_out__subscribers": file, "pools__send__handler__http__subscribers": file,
            "pools__send__handler__http__private_addresses": "true"}


def tiers(run, _):
    run.create(priority_tiers.PARTITIONS)
    for _ in range(8 * ROUNDS):  # a drain may finish several floods
        priority_tiers.flood(run)
    return {f"pools__{tier}__handler__plugin__library": PLUGINS / "tiers.so" for tier in priority_tiers.TIERS}


def images(run, cleanup):
    def program(name, command, variables):
        process = Process(name, command, run.folder, variables)
        cleanup.callback(process.end)
        cleanup.callback(process.stop)
        return process
    run.create(image_pipeline.PARTITIONS)
    around = Around(program, run.folder)
    image_pipeline.start(run, around)
    Sender(around.clients, image_pipeline.RATE, image_pipeline.IMAGES)
    return around.settings()


def backlog(run, _):
    run.create(notifications.PARTITIONS)
    run.produce("--count", BACKLOG * ROUNDS)
    return {}


LOADS = {"webhook-fanout": webhook_fanout, "priority-tiers": tiers, "image-pipeline": images, "notifications": backlog,
         "stream-processor": backlog}


def scenario(run):
    name, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    with contextlib.ExitStack() as cleanup:
        settings = LOADS[name](run, cleanup)
        for number in range(rounds):
            stop_under_load(run, name, f"service-{number}", settings)


def stop_under_load(run, example, name, settings):
    service = run.example(name, f"config/examples/{example}.yaml", **settings)
    run.wait_for_progress(service, 40)
    # Records wait in its pools, and not only for the end of a short one.
    waiting = ("pool_queue_depth", "named_pool_queue_depth", "named_pool_waiting")
    wait_until("records wait", lambda: sum(map(service.metric, waiting)) > 10)
    begun = time.monotonic()
    service.stop()
    took = time.monotonic() - begun
    ended = re.search(r"abandoned=(\d+) uncommitted=(\d+)", service.log)
    print(f"{example}: {name} ended {took:.1f} s after SIGTERM", flush=True)
    expect_equal(("0", "0"), ended and ended.groups(), f"records that {name} abandoned, and those that it did not commit")


if __name__ == "__main__":
    harness.main("examples-stopped", scenario)
