"""The same Python children with nothing but pipes, and as laneway's, in turns."""
import sys

from ..bench import ROOT
from ..figures import rates, ratio_of
from .web import HTTP_PARTITIONS, HTTP_RECORDS, HTTP_SECONDS

EXEC_WORKERS = 1  # children of each of the 8 partitions
CHILD = ROOT / "integration" / "bench" / "exec_echo.py"


def exec_children(bench):
    """The same Python children with nothing but pipes, and as laneway's, in turns."""
    topic = bench.topic("http", HTTP_PARTITIONS, HTTP_RECORDS)
    child = [sys.executable, CHILD]
    pipes, lane = zip(*(
        (bench.alone("pipe_ping_pong", "--children", HTTP_PARTITIONS * EXEC_WORKERS, "--seconds", HTTP_SECONDS, "--", *child),
         bench.measure("lane_bench", topic, "--workers", EXEC_WORKERS, "--seconds", HTTP_SECONDS,
                       "--child", " ".join(map(str, child)), "exec")) for _ in range(bench.repeat)))
    bench.row("pipes and the same children", rates(pipes), "", None, pipes)
    ratio = ratio_of(lane, pipes)
    bench.row("exec, Python children", rates(lane), ">= 0.7 x pipes", ratio >= 0.7, lane, ratio)
