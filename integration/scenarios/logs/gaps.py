"""Logs with holes: compaction, transaction markers, aborted transactions. The lag still reaches 0, also behind a marker."""
import harness
from harness import Promises, expect, wait_until


def scenario(run):
    compacted, transactional = run.topic + "-compacted", run.topic + "-transactional"
    topics = [compacted, transactional]
    run.create(2, "cleanup.policy=compact", "segment.ms=100", "min.cleanable.dirty.ratio=0.01", topic=compacted)
    run.create(2, topic=transactional)
    run.tool("produce", compacted, "--count", 3000, "--keys", 20)
    wait_until("the log is compacted", lambda: compact_more(run, compacted) < 1000, every=0.5)
    run.produce("--count", 3000, "--per-transaction", 70, "--abort-every", 3, topic=transactional,
                verb="produce-transactional")
    # The last transaction but one ends with an abort on every partition: a marker is the end of the log.
    run.tool("produce-transactional", transactional, "--count", 20, "--per-transaction", 20, "--abort-every", 1)
    run.watch_commits(topics=topics)
    service = run.service("service", topics=topics)
    run.wait_for_no_lag(topics)
    wait_until("the lag is 0 in the metrics", lambda: service.metric("lane_lag_records") == 0)
    service.stop()
    run.judge(Promises(stopped_clean=True), topics)


def compact_more(run, topic):
    """Records left; a few new ones make the cleaner look again."""
    run.tool("produce", topic, "--count", 4, "--keys", 20)
    visible = sum('"end"' not in line for line in run.tool("dump", topic))
    expect(visible > 0, "compaction left nothing")
    return visible


if __name__ == "__main__":
    harness.main("gaps", scenario)
