"""A backlog of few keys in one partition, in the order of keys: beside bare threads, and beside no order."""
import contextlib
import sys

from ..bench import WORK_SECONDS
from ..figures import rates, ratio_of
from .children import CHILD
from .web import http_server

SHARED_KEYS, SHARED_WORKERS, SHARED_RECORDS = (8, 9, 16, 1000), 8, 100_000
OUTAGE_SECONDS = 10


def ordered(bench):
    """A backlog of few keys in one partition: every worker has a record of another key all the time."""
    for keys in SHARED_KEYS:
        topic = shared_topic(bench, keys)
        threads, lane = zip(*((bench.sleepers(SHARED_WORKERS), bench.measure("lane_bench", topic, "--seconds", 10, "shared"))
                              for _ in range(bench.repeat)))
        ratio = ratio_of(lane, threads)
        bench.row(f"ordered, {keys} keys, beside bare threads", rates(lane), ">= 0.95 x theirs", ratio >= 0.95, lane, ratio)
    ordered_handlers(bench)


def ordered_handlers(bench):
    """The same through handlers that take 10 ms: in the order of keys and without, in turns. One key more than workers."""
    child = f"{sys.executable} {CHILD} {WORK_SECONDS * 1000}"
    through = {"exec": ["--child", child], "plugin": ["--library", bench.build_folder / "integration/plugins/slow.so"]}
    for name, arguments in through.items():
        compare_orders(bench, name, lambda: contextlib.nullcontext(arguments))

    @contextlib.contextmanager
    def posting(*outage):
        with http_server(bench, WORK_SECONDS * 1000, *outage) as url:
            yield ["--url", url]

    compare_orders(bench, "http", posting)
    compare_orders(bench, "http after an outage", lambda: posting(OUTAGE_SECONDS))


def compare_orders(bench, name, handler):
    topic = shared_topic(bench, SHARED_WORKERS + 1)

    def by(order):
        with handler() as arguments:
            return bench.measure("lane_bench", topic, "--workers", SHARED_WORKERS, "--seconds", 10, "--order", order, *arguments, "shared")

    free, lane = zip(*((by("none"), by("key")) for _ in range(bench.repeat)))
    ratio = ratio_of(lane, free)
    bench.row(f"ordered, {name}, {SHARED_WORKERS + 1} keys", rates(lane), ">= 0.95 x without order", ratio >= 0.95, lane, ratio)


def shared_topic(bench, keys):
    return bench.topic(f"keys-{keys}", 1, SHARED_RECORDS, keys)
