"""The cases, in the order in which they are run. Each is a function that takes a Bench, runs programs, and adds rows."""
from . import adaptive, before, children, metrics, order, overload, pool, sleeping, standing, throughput, web

BESIDE_THE_BARE_LOOP = ("noop", "key", "partition")  # which share its rounds
ACTIONS = {
    "scraped": metrics.scraped,
    "plugin": throughput.plugin,
    "before": before.before,
    "produce": throughput.produce,
    "sleep": sleeping.sleep,
    "ordered": order.ordered,
    "stuck": sleeping.stuck,
    "bulkheads": sleeping.bulkheads,
    "overload": overload.overload,
    "waiting": standing.waiting,
    "idle": standing.idle,
    "http": web.http,
    "exec": children.exec_children,
    "adaptive": adaptive.adaptive,
}
WITHOUT_KAFKA = {
    "pool": pool.pool,
}
WHEN_ASKED = ("before",)  # takes a build of another version
CASES = [*BESIDE_THE_BARE_LOOP, *(case for case in ACTIONS if case not in WHEN_ASKED), *WITHOUT_KAFKA]


def run(bench, cases):
    """Runs the cases that need a Kafka, which `bench` has."""
    shared = [case for case in cases if case in BESIDE_THE_BARE_LOOP]
    if shared:
        throughput.throughput(bench, shared)
    for case, action in ACTIONS.items():
        if case in cases:
            action(bench)


def run_without_kafka(bench, cases):
    for case, action in WITHOUT_KAFKA.items():
        if case in cases:
            action(bench)
