"""Requests of one transaction that reach the brokers in the next one: late_requests.py commit|offsets|aborted|delays

The client has no KIP-890: brokers tell transactions of a producer apart by its epoch alone. So after a request that was not answered
laneway goes on with a new client, whose epoch is higher. A proxy keeps a request back until the next transaction is open.

commit   The request that commits is late: it would commit half of the next transaction, whose process is killed then.
offsets  The request with the offsets is late: it would put older offsets into the next transaction's commit.
aborted  The same after a transaction that was aborted because its offsets were not answered.
delays   One request in twenty comes seconds late, whatever it is: longer than the client waits.
"""
import random
import sys

import harness
import frames
from exactly_once import aborted, all_written, expect_each_once, records_of
from harness import wait_until
from proxy import Proxy

STORY = sys.argv[1] if len(sys.argv) > 1 else "commit"
PARTITIONS, BATCH = 2, 100
RECORDS, RATE = 3000, 400  # of the delays
OF_TRANSACTIONS = (frames.PRODUCE, frames.ADD_PARTITIONS_TO_TXN, frames.ADD_OFFSETS_TO_TXN, frames.TXN_OFFSET_COMMIT, frames.END_TXN)


def service(run, name, bootstrap):
    """The instance's name gives its transactions a name that stays: the next process ends the transactions that it left open."""
    kafka = {"bootstrap.servers": bootstrap, "group.instance.id": "a", "session.timeout.ms": 6000, "heartbeat.interval.ms": 500}
    # The client gives a request up after two seconds, and sends it again on a new connection.
    produce = {"topic": "{topic}-out", "transactional": True, "kafka": {"socket.timeout.ms": 2000}}
    return run.service(name, kafka=kafka, handler={"simulate": None, "produce": produce}, commit={"interval": "100ms"},
                       retry={"max_backoff": "1s"})


def batch(run, name):
    """Records are told apart by the header of this name, and the number in it."""
    run.produce("--count", BATCH, "--keys", 10, "--header", name)


def late_commit(run, proxy):
    """Of the first transaction, while the second one is written and has no offsets."""
    late = proxy.hold(frames.END_TXN, times=1)
    batch(run, "second")
    wait_until("the commit is late", lambda: late.caught)
    open_one = proxy.hold(frames.ADD_OFFSETS_TO_TXN)
    batch(run, "third")
    wait_until("the next transaction is written", lambda: open_one.caught)
    return [late]


def late_offsets(run, proxy):
    """Of the first transaction, while the second one has its offsets and is not committed."""
    late = proxy.hold(frames.TXN_OFFSET_COMMIT, times=1)
    batch(run, "second")
    wait_until("the offsets are late", lambda: late.caught)
    run.wait_for_no_lag()  # the client sends them again
    offsets = proxy.delay(0, frames.TXN_OFFSET_COMMIT)
    commit = proxy.hold(frames.END_TXN, where=lambda _: len(offsets.answered) > 0)
    batch(run, "third")
    wait_until("the next transaction is committed but for the last word", lambda: commit.caught)
    return late, commit


def late_aborted(run, proxy):
    """Of the first transaction, which no broker gives an answer about its offsets, while the second one is not committed."""
    late = proxy.hold(frames.TXN_OFFSET_COMMIT, times=1)
    unanswered = proxy.drop(frames.TXN_OFFSET_COMMIT)
    offsets = proxy.delay(0, frames.TXN_OFFSET_COMMIT)
    commit = proxy.hold(frames.END_TXN, where=lambda _: len(offsets.answered) > 0)
    batch(run, "second")
    wait_until("the offsets are late", lambda: late.caught)
    batch(run, "third")
    wait_until("the transaction is aborted", lambda: aborted(run))
    proxy.release(unanswered)
    wait_until("the next transaction is committed but for the last word", lambda: commit.caught)
    return late, commit


def deliver(proxy, late):
    """Each of these, when the one before has been answered."""
    for rule in late:
        proxy.release(rule)
        wait_until("a late request is answered", lambda rule=rule: rule.answered)


def story(run, proxy):
    first = service(run, "first", proxy.bootstrap())
    batch(run, "first")
    run.wait_for_no_lag()
    late = {"commit": late_commit, "offsets": late_offsets, "aborted": late_aborted}[STORY](run, proxy)
    deliver(proxy, late)
    first.kill()
    return 3 * BATCH


def delays(run, proxy):
    chance = random.Random(15)
    rule = proxy.delay(3, OF_TRANSACTIONS, where=lambda _: chance.random() < 0.05)
    first = service(run, "first", proxy.bootstrap())
    run.produce("--count", RECORDS, "--rate", RATE, "--keys", 10, "--header", "number")
    wait_until("a request was late", lambda: rule.caught)
    run.wait_for_no_lag()
    first.stop()
    return RECORDS


def scenario(run):
    run.create(PARTITIONS)
    run.create(PARTITIONS, topic=run.topic + "-out")
    with Proxy(run.bootstrap) as proxy:
        count = delays(run, proxy) if STORY == "delays" else story(run, proxy)
    last = service(run, "last", run.bootstrap)
    run.wait_for_no_lag()
    last.stop()
    expect_each_once(records_of(run, run.topic), all_written(run, count), count)
    print(f"{count} records, each once; {aborted(run)} transactions done again")


if __name__ == "__main__":
    harness.main(f"late-requests-{STORY}", scenario, nodes=3)
