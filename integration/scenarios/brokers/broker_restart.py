"""The only broker is killed and comes back under load: the service goes on by itself, and nothing is lost."""
import harness
from harness import Promises


def scenario(run):
    run.create(4)
    run.watch_commits()
    service = run.service("service", handler={"simulate": {"sleep": "5ms"}})
    run.produce_meanwhile("--rate", 500)
    run.wait_for_progress(service, 500)
    settled = service.settled(run.has_no_lag)
    run.kafka("restart", "--kill")
    run.wait_for_progress(service, service.processed() + 500)
    run.finish_writing()
    run.wait_for_no_lag()
    service.stop()
    # Commits may have gone unanswered: then records that finished meanwhile run again, but no older ones.
    run.judge(Promises(stopped_clean=True, duplicates=10000, settled=settled))


if __name__ == "__main__":
    harness.main("broker-restart", scenario, own_kafka=True)
