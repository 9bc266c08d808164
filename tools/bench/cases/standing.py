"""Idle work: partitions without records, and records that wait for an hour."""
from statistics import median

from ..bench import PARTITIONS, VALUE_BYTES
from ..figures import rates, ratio_of

IDLE_PARTITIONS = 1000
WAITING = 100_000


def idle(bench):
    topic = bench.topic("idle", IDLE_PARTITIONS)
    lane = bench.measure("lane_bench", topic, "--partitions", IDLE_PARTITIONS, "--seconds", 30, "idle")
    bench.row("idle, 1,000 partitions", f"{lane['resident_mib']:.0f} MiB", "<= 256 MiB", lane["resident_mib"] <= 256, [lane])
    bench.row("idle, CPU", f"{lane['cpu_percent']:.2f} %", "<= 2 % of a core", lane["cpu_percent"] <= 2)


def waiting(bench):
    """The same service with records that wait for an hour and without, in turns."""
    def beside(count):
        return bench.lane("--records", bench.records, "--partitions", PARTITIONS, "--waiting", count, "waiting")

    without, lane = zip(*((beside(0), beside(WAITING)) for _ in range(bench.repeat)))
    ratio = ratio_of(lane, without)
    bench.row(f"{WAITING:,} records wait", rates(lane), ">= 0.95 x without", ratio >= 0.95, lane, ratio)
    own = VALUE_BYTES + len("key-1234")
    more = median((one["allocated"] - other["allocated"]) / WAITING for one, other in zip(lane, without)) - own
    bench.row("a waiting record, above its own", f"{more:.0f} bytes", "<= 300 bytes", more <= 300)
