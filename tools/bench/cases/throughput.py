"""noop, key and partition beside the bare loop; plugin, and records that are written, each beside its measure."""
from ..bench import PARTITIONS
from ..figures import rates, ratio_of

COPIED_RECORDS = 1_000_000


def throughput(bench, cases):
    """noop, key and partition, which share the rounds of the bare loop."""
    rounds = [(bench.bare(), *(bench.lane("--records", bench.records, case) for case in cases))
              for _ in range(bench.repeat)]
    bare, *others = zip(*rounds)
    bench.row("bare loop", rates(bare), "", None, bare)
    for case, runs in zip(cases, others):
        ratio = ratio_of(runs, bare)
        if case == "noop":
            cpu = ratio_of(runs, bare, "cpu_us")
            bench.row("noop", rates(runs), ">= 1.05 x bare", ratio >= 1.05, runs, ratio)
            bench.row("noop, CPU a record", f"{cpu:.3f} x bare", "<= 0.95 x bare", cpu <= 0.95, runs, cpu)
        else:
            bench.row(case, rates(runs), ">= 0.6 x bare", ratio >= 0.6, runs, ratio)


def plugin(bench):
    """The same plugin and built-in handler that do nothing, in turns."""
    library = bench.build_folder / "integration/plugins/nothing.so"
    rounds = [(bench.lane("--records", bench.records, "noop"),
               bench.lane("--records", bench.records, "--library", library, "plugin")) for _ in range(bench.repeat)]
    built_in, loaded = zip(*rounds)
    ratio = ratio_of(loaded, built_in)
    bench.row("plugin", rates(loaded), ">= 0.98 x built-in", ratio >= 0.98, loaded, ratio)
    cpu = ratio_of(loaded, built_in, "cpu_us")
    bench.row("plugin, CPU a record", f"{cpu:.3f} x built-in", "", None, loaded, cpu)


def produce(bench):
    """From topic to topic: the bare loop that reads and writes, and laneway without and with transactions, in turns."""
    def copy(program, *arguments):
        to = bench.topic(f"copies-{bench.client}-{bench.groups}", PARTITIONS)
        result = bench.measure(program, bench.full_topic(), "--records", min(COPIED_RECORDS, bench.records), "--to", to, *arguments)
        bench.tool("delete", to)
        return result

    bare, plain, exact = zip(*((copy("bare_loop"), copy("lane_bench", "produce"),
                                copy("lane_bench", "--transactional", "produce")) for _ in range(bench.repeat)))
    bench.row("bare loop, written", rates(bare), "", None, bare)
    ratio = ratio_of(plain, bare)
    bench.row("produce", rates(plain), ">= 0.8 x bare", ratio >= 0.8, plain, ratio)
    ratio = ratio_of(exact, bare)
    bench.row("produce, transactional", rates(exact), ">= 0.6 x bare", ratio >= 0.6, exact, ratio)
