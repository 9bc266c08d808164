"""More records than the workers can do for a minute, and the backlog after that."""
import subprocess

from ...failure import Failure
from ..bench import KEYS, PARTITIONS, VALUE_BYTES, WORK_SECONDS
from ..figures import rates, ratio_of

OVERLOAD_RATE, OVERLOAD_WORKERS = 20000, 5
OVERLOAD_SECONDS = 60


def overload(bench):
    """Once: it takes as long as the backlog."""
    topic, group = bench.topic("overload", PARTITIONS), bench.group()
    records = OVERLOAD_RATE * OVERLOAD_SECONDS
    load = [bench.build_folder / "integration/kafka_tool/kafka_tool", "--bootstrap", bench.bootstrap, "produce", topic,
            "--rate", OVERLOAD_RATE, "--count", records, "--size", VALUE_BYTES, "--keys", KEYS]
    threads = bench.sleepers(PARTITIONS * OVERLOAD_WORKERS)
    producer = subprocess.Popen([str(part) for part in load], stdout=subprocess.DEVNULL)
    lane = bench.measure("lane_bench", topic, "--records", records, "--seconds", OVERLOAD_SECONDS, "overload", group=group)
    if producer.wait() != 0:
        raise Failure("not every record of the overload was acknowledged")
    bare = bench.measure("bare_loop", topic, "--records", records)
    capacity = PARTITIONS * OVERLOAD_WORKERS / WORK_SECONDS
    ratio = lane["rate"] / capacity
    bench.row("overload", rates([lane]), ">= 0.98 x 8,000/s", ratio >= 0.98, [lane], ratio)
    ratio = ratio_of([lane], [threads])
    bench.row("overload, beside bare threads", rates([threads]), ">= 0.98 x theirs", ratio >= 0.98, ratio=ratio)
    wire = lane["received_bytes"] / bare["received_bytes"]
    bench.row("overload, bytes received", f"{wire:.3f} x bare", "<= 1.05 x bare", wire <= 1.05, ratio=wire)
    taken = lane["fetched_bytes"] / lane["processed_bytes"]
    bench.row("overload, taken a processed byte", f"{taken:.3f}", "<= 1.05", taken <= 1.05, ratio=taken)
    growth = lane["whole_peak_mib"] - lane["early_peak_mib"]
    # It grows by whole answers of the broker (16 MiB each); were it with the backlog, this would be 160 MiB.
    bench.row("overload, memory after 40 s", f"+{growth:.1f} MiB", "<= 32 MiB", growth <= 32, [lane])
    peak = lane["whole_peak_mib"]
    bench.row("overload, memory at most", f"{peak:.0f} MiB", "<= 256 MiB", peak <= 256, [lane])
    lost = records - lane["done"]
    ends = {line["partition"]: line["end"] for line in bench.tool("watermarks", topic)}
    behind = sum(ends[line["partition"]] - (line["offset"] or 0) for line in bench.tool("committed", group, topic))
    bench.row("overload, lost + uncommitted", f"{lost} + {behind}", "0 + 0", lost == 0 and behind == 0)
