"""A suspension goes with its partition: to the next instance, through a kill -9 and a restart, until it is resumed there."""
import harness
from control import Operator
from harness import Promises, expect, expect_equal, wait_until

PARTITIONS, RECORDS = 4, 100
MOVES = {"partition.assignment.strategy": "cooperative-sticky", "session.timeout.ms": 6000, "heartbeat.interval.ms": 500}


def suspended(operator):
    return sorted(lane["partition"] for lane in operator.status()["lanes"] if lane["suspended"])


def scenario(run):
    run.create(PARTITIONS)  # nothing is produced or committed yet
    token = run.folder / "token"
    token.write_text("a-secret-of-the-operators\n")
    token.chmod(0o600)
    settings = {"kafka": MOVES, "admin": {"token_file": str(token)}}
    first = run.service("first", **settings)
    operator = Operator(first, token)
    wait_until("it has its lanes", lambda: len(operator.status()["lanes"]) == PARTITIONS)
    operator.laneway("suspend", run.topic)
    wait_until("the suspensions are committed", lambda: len(run.committed()) == PARTITIONS)
    first.kill()
    again = run.service("again", **settings)
    operator = Operator(again, token)
    wait_until("all lanes are suspended again", lambda: suspended(operator) == list(range(PARTITIONS)))
    expect_equal(PARTITIONS, len(again.events("lane suspended")), "lanes that the log calls suspended")
    second = run.service("second", **settings)
    other = Operator(second, token)
    wait_until("the second has taken over suspended lanes", lambda: len(suspended(other)) == PARTITIONS // 2)
    run.produce("--count", RECORDS)
    moved = suspended(other)
    expect("goes with its partition" in operator.laneway("resume", f"{run.topic}:{moved[0]}", code=66), "the first resumed it")
    other.laneway("resume", f"{run.topic}:{moved[0]}")
    wait_until("the lane works", lambda: other.lane(moved[0])["lag"] == 0)
    expect_equal(moved[1:], suspended(other), "lanes that are still suspended")
    second.stop()
    wait_until("the lanes have come back", lambda: len(operator.status()["lanes"]) == PARTITIONS)
    expect_equal(sorted({*range(PARTITIONS)} - {moved[0]}), suspended(operator), "suspended lanes, back at the first")
    operator.laneway("resume", run.topic)
    run.wait_for_no_lag()
    again.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("suspended", scenario)
