"""One broker of three is killed under load, and comes back: leaders change, nothing is lost, nothing runs twice."""
import harness
from harness import Promises


def scenario(run):
    run.create(6)
    run.watch_commits()
    service = run.service("service", handler={"simulate": {"sleep": "5ms"}})
    run.produce_meanwhile("--rate", 1000)
    run.wait_for_progress(service, 2000)
    run.kafka("stop", "--kill", "--node", "2")
    run.wait_for_progress(service, service.processed() + 3000)
    run.kafka("start", "--node", "2")
    run.finish_writing()
    run.wait_for_no_lag()
    service.stop()
    run.judge(Promises(stopped_clean=True, duplicates=10000, redelivery_window=25))


if __name__ == "__main__":
    harness.main("broker-lost", scenario, own_kafka=True, nodes=3)
