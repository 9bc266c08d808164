"""The cost of a change: cases of this build and of another build, in turns."""
from ..figures import rates, ratio_of
from . import web

SECONDS = 5  # of each run of a case that has no number of records


def before(bench):
    counted, timed = ("--records", bench.records), ("--seconds", SECONDS)
    cases = {"noop": counted, "key": counted, "plugin": counted, "sleep": timed, "bulkheads": (*timed, "--healthy")}
    for case, much in cases.items():
        beside_before(bench, case, lambda build, case=case, much=much: bench.lane(
            *much, "--library", build / "integration/plugins/nothing.so", case, build=build))
    with web.http_server(bench, 0) as url:
        beside_before(bench, "http", lambda build: web.post(bench, url, SECONDS, build=build))


def beside_before(bench, case, run_of):
    earlier, now = zip(*((run_of(bench.before), run_of(bench.build_folder)) for _ in range(bench.repeat)))
    ratio = ratio_of(now, earlier)
    bench.row(f"{case}, beside before", rates(now), ">= 0.99 x before", ratio >= 0.99, now, ratio)
    cpu = ratio_of(now, earlier, "cpu_us")
    bench.row(f"{case}, CPU beside before", f"{cpu:.3f} x before", "<= 1.01 x before", cpu <= 1.01, now, cpu)
