"""The rate of the lanes that a member keeps, while lanes that it gives to another member drain for 15 seconds, as a ratio to the
rate just before. The lanes keep up with a writer, so that records fetched before do not hide a standstill. LANEWAY and KAFKA_TOOL
name the programs; those of build/ are the default.

usage: drain.py [cooperative-sticky|consumer]
Prints one line of JSON; the exit code is 1 where the ratio is below 0.95.
"""
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "framework"))
import harness  # noqa: E402
from harness import expect, wait_until  # noqa: E402
from kept_lanes import PARTITIONS, PROTOCOL, FirstRecordsWait, draining, settings  # noqa: E402

SECONDS, RATE = 15, 400


def rate(gate, partitions):
    before, begun = dict(gate.answered), time.monotonic()
    time.sleep(SECONDS)
    answered = sum(gate.answered.get(partition, 0) - before.get(partition, 0) for partition in partitions)
    return answered / (time.monotonic() - begun)


def scenario(run):
    run.create(PARTITIONS)
    gate = FirstRecordsWait()
    run.produce_meanwhile("--rate", RATE)
    first = run.service("first", **settings(gate))
    wait_until("all lanes are at work", lambda: len(gate.answered) == PARTITIONS)
    all_lanes = rate(gate, range(PARTITIONS))
    run.service("second", **settings(gate))
    leaving = wait_until("the first member drains some of its lanes", lambda: draining(first))
    kept = set(range(PARTITIONS)) - set(leaving)
    while_draining = rate(gate, kept)
    expect(set(leaving) <= set(draining(first)), "the drain has ended before the measurement")
    gate.opened.set()
    run.finish_writing()
    ratio = while_draining / (all_lanes * len(kept) / PARTITIONS)
    print(json.dumps({"protocol": PROTOCOL, "kept_lanes": len(kept), "before_per_s": round(all_lanes * len(kept) / PARTITIONS, 1),
                      "while_draining_per_s": round(while_draining, 1), "ratio": round(ratio, 3)}))
    expect(ratio >= 0.95, "the kept lanes slowed down")


if __name__ == "__main__":
    harness.main(f"drain-{PROTOCOL}", scenario)
