"""Work that sleeps: in all partitions, where one is stuck, and beside a pool that is."""
from statistics import median

from ..bench import PARTITIONS, WORK_SECONDS
from ..figures import rates, ratio_of


def sleep(bench):
    ideal = PARTITIONS * 8 / WORK_SECONDS
    bare, threads, lane = zip(*((bench.bare(), bench.sleepers(PARTITIONS * 8), bench.lane("--seconds", 10, "sleep"))
                                for _ in range(bench.repeat)))
    ratio = median(one["rate"] for one in lane) / ideal
    bench.row("sleep 10 ms", rates(lane), ">= 0.98 x 12,800/s", ratio >= 0.98, lane, ratio)
    ratio = ratio_of(lane, threads)
    bench.row("sleep, beside bare threads", rates(threads), ">= 0.98 x theirs", ratio >= 0.98, ratio=ratio)
    more = median(one["peak_mib"] - other["peak_mib"] for one, other in zip(lane, bare))
    bench.row("sleep, memory above bare", f"{more:.1f} MiB", "<= 64 MiB", more <= 64, lane)


def stuck(bench):
    healthy, hung = zip(*((bench.lane("--seconds", 10, "--healthy", "stuck"), bench.lane("--seconds", 10, "stuck"))
                          for _ in range(bench.repeat)))
    ratio = ratio_of(hung, healthy)
    bench.row("stuck: the other 15", rates(hung), ">= 0.98 x without", ratio >= 0.98, hung, ratio)


def bulkheads(bench):
    """Each lane has two pools. One of them hangs: the other one does as much as beside one that does nothing."""
    healthy, hung = zip(*((bench.lane("--seconds", 10, "--healthy", "bulkheads"), bench.lane("--seconds", 10, "bulkheads"))
                          for _ in range(bench.repeat)))
    ratio = ratio_of(hung, healthy)
    bench.row("bulkheads: the other pool", rates(hung), ">= 0.98 x without", ratio >= 0.98, hung, ratio)
