"""The pools' hand-off alone: the lane's pool beside a pool of mutex and condition variable, and laneway::WorkerPool beside the
pools of other libraries, on the same jobs in the same rounds."""
from statistics import median

from ..figures import ratio_of

POOL_CASES = "^BM_pool/[0-9]+/0/256/|^BM_usual_pool/"
# The peers, and where each comes from if it is missing.
PEERS = {"bs": "BS_thread_pool.hpp of github.com/bshoshany/thread-pool, its folder as cmake -D LANEWAY_BS_THREAD_POOL=FOLDER",
         "asio": "the package libboost-dev", "tbb": "the package libtbb-dev", "moodycamel": "the package libconcurrentqueue-dev"}
WORKERS = (1, 2, 8, 64)
MICROSECONDS = (0, 1)
JOBS = 100_000


def pool(bench):
    found = {tuple(one["run_name"].split("/")[:2]): one["ns"] for one in bench.benchmarks(POOL_CASES)}
    for name, workers in found:
        if name != "BM_pool":
            continue
        ns, usual = found[name, workers], found["BM_usual_pool", workers]
        bench.row(f"pool, {workers} workers", f"{ns:.1f} ns (usual {usual:.0f})", "<= 30 ns", ns <= 30, ratio=ns / usual)
    library(bench)


def library(bench):
    steps = bench.alone("pools", "calibrate")["steps_per_us"]
    for work in MICROSECONDS:
        for workers in WORKERS:
            beside_the_others(bench, work, workers, int(steps * work))


def beside_the_others(bench, work, workers, steps):
    runs = {name: [] for name in ("laneway", *PEERS)}
    for _ in range(bench.repeat):
        for name, of_pool in runs.items():
            of_pool.append(bench.alone("pools", name, "--workers", workers, "--jobs", JOBS, "--steps", steps))
    ours = runs.pop("laneway")
    for name, theirs in runs.items():
        case = f"library's pool, {work} us, {workers} workers, beside {name}"
        if "missing" in theirs[0]:
            bench.row(case, f"not measured: needs {PEERS[name]}", "is there", None)
            continue
        ratio = ratio_of(ours, theirs, "wall_ns")
        figure = f"{median(one['wall_ns'] for one in ours):.0f} ns (it {median(one['wall_ns'] for one in theirs):.0f})"
        bench.row(case, figure, "< 1", ratio < 1, ours, ratio)
