"""The pool's hand-off alone, beside a pool of mutex and condition variable."""
POOL_CASES = "^BM_pool/[0-9]+/0/256/|^BM_usual_pool/"


def pool(bench):
    found = {tuple(one["run_name"].split("/")[:2]): one["ns"] for one in bench.benchmarks(POOL_CASES)}
    for name, workers in found:
        if name != "BM_pool":
            continue
        ns, usual = found[name, workers], found["BM_usual_pool", workers]
        bench.row(f"pool, {workers} workers", f"{ns:.1f} ns (usual {usual:.0f})", "<= 30 ns", ns <= 30, ratio=ns / usual)
