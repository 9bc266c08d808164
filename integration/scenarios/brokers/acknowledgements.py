"""A record that handler.produce reports as written is in the output, once: acknowledgements.py lost|refused

lost     The brokers write records, and the answer does not arrive: the connection breaks, or it is silent while the partition gets
         another leader. The client writes them again, and brokers must recognise them.
refused  A request is refused because too few replicas are in sync, and the next one is taken because they are back. The broker
         knows nothing of the producer yet, so it takes any first sequence number. With five requests in flight the client then calls
         the refused record written, and it is in no log: 599 of 600 with librdkafka 2.0.2 and with 2.15.1. With one in flight: 600.
"""
import contextlib
import json
import sys

import harness
import frames
import wire
from harness import expect_equal, wait_until
from proxy import Proxy

STORY = sys.argv[1] if len(sys.argv) > 1 else "lost"
RECORDS = 600
WRITER = "copies"  # client.id of the producer


def start(run, proxy, patience=None):
    """Each record in a request of its own; one that is not answered in so many ms is given up, and sent again."""
    client = {"client.id": WRITER, "batch.num.messages": 1, **({"socket.timeout.ms": patience} if patience else {})}
    return run.service("service", kafka={"bootstrap.servers": proxy.bootstrap()},
                       handler={"simulate": None, "produce": {"topic": "{topic}-out", "kafka": client}})


def place(run):
    """Of the output's only partition, as the first broker that knows it has it."""
    def known():
        for address in run.admin_bootstrap.split(","):
            with contextlib.suppress(OSError, KeyError):
                return wire.partitions_of(address, [output(run)])[output(run), 0]
        return None
    return wait_until("a broker knows the output", known)


def output(run):
    return run.topic + "-out"


def is_led_by(run, node):
    """Asks for it, too."""
    if place(run).leader == node:
        return True
    wire.elect_preferred(run.admin_bootstrap.split(",")[0], [(output(run), 0)])
    return False


def lost(run, proxy):
    run.create(1, topic=output(run))
    start(run, proxy, patience=2000)
    broken = proxy.cut(frames.PRODUCE, client=WRITER, answers=True, times=3)
    run.produce("--count", RECORDS // 2, "--header", "first")
    run.wait_for_no_lag()
    expect_equal(3, len(broken.caught), "answers that were lost with their connection")
    leader = place(run).leader
    silent = proxy.drop(frames.PRODUCE, client=WRITER, answers=True, times=1)
    run.produce("--count", RECORDS // 2, "--header", "second")
    wait_until("an answer is withheld", lambda: silent.caught)
    others = [node for node in place(run).replicas if node != leader]
    wire.prefer(run.admin_bootstrap.split(",")[0], (output(run), 0), [*others, leader])
    wait_until("another broker leads", lambda: is_led_by(run, others[0]))


def refused(run, proxy):
    run.create(1, "min.insync.replicas=3", topic=output(run))
    run.produce("--count", RECORDS, "--header", "first")
    away = next(node for node in place(run).replicas if node != place(run).leader)
    run.kafka("stop", "--node", str(away))
    try:
        wait_until("a replica is out of sync", lambda: len(place(run).in_sync) < 3)
        proxy.delay(0, frames.PRODUCE, client=WRITER, times=1)  # the first one passes
        later = proxy.hold(frames.PRODUCE, client=WRITER)
        # What the client sends before it knows of the refusal; with one request in flight that is nothing.
        refusal = proxy.delay(1, frames.PRODUCE, client=WRITER, answers=True, times=1)
        start(run, proxy)
        wait_until("a request is refused, and others wait", lambda: refusal.caught and later.caught)
    finally:
        run.kafka("start", "--node", str(away))
    wait_until("all replicas are in sync", lambda: len(place(run).in_sync) == 3)
    proxy.release(later)


def copies(run):
    """The output's records, told apart by the header and the number that they were written with."""
    found = [json.loads(line) for line in run.tool("read", output(run))]
    return [json.dumps(record["headers"][0]) for record in found if "value" in record]


def scenario(run):
    run.create(1)
    with Proxy(run.bootstrap) as proxy:
        {"lost": lost, "refused": refused}[STORY](run, proxy)
        run.wait_for_no_lag()
        run.services[0].stop()
    written = copies(run)
    expect_equal((RECORDS, RECORDS), (len(written), len(set(written))), "records written, and distinct ones of them")


if __name__ == "__main__":
    harness.main(f"acknowledgements-{STORY}", scenario, nodes=3)
