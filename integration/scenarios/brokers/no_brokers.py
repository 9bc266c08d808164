"""The only broker is fenced for a moment, again and again, because its heartbeats to the controller were late: answers about
metadata name the topics and no broker. The service finds the broker again each time.
"""
import harness
from harness import Promises, wait_until
from no_brokers import NoBrokers

# The thread that handles an answer needs longer for many partitions: long enough for the broker's thread to end meanwhile.
PARTITIONS, TURNS, RECORDS = 200, 5, 400


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    with NoBrokers(run.bootstrap) as proxy:
        service = run.service("service", kafka={"bootstrap.servers": proxy.bootstrap(), "topic.metadata.refresh.interval.ms": 500})
        run.produce("--count", RECORDS)
        run.wait_for_progress(service, RECORDS)
        for turn in range(1, TURNS + 1):
            proxy.fence()
            wait_until("an answer has no brokers", lambda: proxy.fenced == turn)
            run.produce("--count", RECORDS)
            run.wait_for_progress(service, (turn + 1) * RECORDS)
        run.wait_for_no_lag()
        service.stop()
    # A commit under way may be lost with the connection: what it named may run again.
    run.judge(Promises(stopped_clean=True, duplicates=TURNS * RECORDS))


if __name__ == "__main__":
    harness.main("no-brokers", scenario)
