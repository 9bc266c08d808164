"""One broker of three is killed under load, and comes back: leaders change, nothing is lost, nothing runs twice.

The dead-letter topic takes records only when all three brokers have them. While one is away no dead letter counts, though two
brokers would have it.
"""
import harness
from harness import Promises, expect_equal, wait_until


def scenario(run):
    letters = run.topic + "-dlt"
    run.create(6)
    run.create(6, "min.insync.replicas=3", topic=letters)
    run.watch_commits()
    service = run.service("service", handler={"simulate": {"sleep": "5ms", "fail": 0.01}},
                          retry={"attempts": 1, "max_backoff": "2s"}, dead_letter={"topic": "{topic}-dlt"})
    run.produce_meanwhile("--rate", 500)
    run.wait_for_progress(service, 500)
    settled = service.settled(run.has_no_lag)
    run.kafka("stop", "--kill", "--node", "2")
    wait_until("dead letters are written in vain", lambda: service.journaled("dead_letter_failed") > 0)
    written = service.metric("dead_letters_total")
    run.wait_for_progress(service, service.processed() + 1500)  # one in a hundred is given up
    expect_equal(written, service.metric("dead_letters_total"), "dead letters that counted while not every broker had them")
    run.kafka("start", "--node", "2")
    run.finish_writing()
    run.wait_for_no_lag()
    service.stop()
    run.judge(Promises(stopped_clean=True, duplicates=10000, settled=settled), letters=[letters])


if __name__ == "__main__":
    harness.main("broker-lost", scenario, nodes=3)
