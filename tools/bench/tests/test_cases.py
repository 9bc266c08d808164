"""The programs that each case runs, and the rows that it adds, with programs that only seem to have run."""
import contextlib
import io
import unittest
from array import array
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from tools.bench import cases
from tools.bench.bench import Bench
from tools.bench.cases import adaptive, order, overload, web


class Result(dict):
    """The output of a program: 1 for each figure that is not given."""

    def __missing__(self, key):
        return 1.0


class Seeming(Bench):
    """`results`: by the case that the program is asked for, or the program's name."""

    def __init__(self, **results):
        super().__init__(SimpleNamespace(build=Path("/build"), repeat=3, records=1000, before=Path("/earlier")), "bundled")
        self.results, self.asked = results, []
        self.bootstrap = "127.0.0.1:1"

    def result(self, program, arguments):
        self.asked.append([program, *map(str, arguments)])
        for word in [*arguments, program]:
            if word in self.results:
                return Result(self.results[word])
        return Result()

    def tool(self, *arguments):
        self.asked.append(["kafka_tool", *map(str, arguments)])
        return []

    def measure(self, program, topic, *arguments, group=None, build=None):
        group or self.group()
        return self.result(program, arguments)

    def alone(self, program, *arguments):
        return self.result(program, arguments)

    def benchmarks(self, which):
        self.asked.append(["pool_bench", which])
        return [{"run_name": f"{name}/{workers}/0", "ns": ns} for name, workers, ns in
                (("BM_pool", 1, 20.0), ("BM_usual_pool", 1, 100.0), ("BM_pool", 8, 40.0), ("BM_usual_pool", 8, 200.0))]

    def verdicts(self):
        return {row["case"]: row["passed"] for row in self.rows}


class SeemingServices:
    """A web service that answers 2,000 times a second, after 50 ms; 50 s pass with each order."""

    def __init__(self):
        self.now = 0.0

    def become(self, capacity):
        self.now += 50
        return self.now

    def change(self, workers):
        pass

    def limit(self):
        return {"limit": 100}


@contextlib.contextmanager
def seeming_services(bench, workers, beyond, failing=0.0):
    answers, services = [], SeemingServices()
    yield services, services, answers
    times = [second + 0.0005 * number for second in range(int(services.now)) for number in range(2000)]
    answers.append(adaptive.Answers(array("d", times), array("d", [0.05] * len(times))))


@contextlib.contextmanager
def no_processes():
    there = contextlib.nullcontext("http://127.0.0.1:1/orders")
    with mock.patch.object(web, "http_server", return_value=there), mock.patch.object(order, "http_server", return_value=there), \
            mock.patch.object(web, "wrk", return_value=Result()), \
            mock.patch.object(adaptive, "running", seeming_services), mock.patch.object(adaptive.time, "sleep"), \
            mock.patch.object(overload.subprocess, "Popen") as process, contextlib.redirect_stdout(io.StringIO()):
        process.return_value.wait.return_value = 0
        yield


def play(*names, **results):
    bench = Seeming(**results)
    with no_processes():
        cases.run(bench, names)
        cases.run_without_kafka(bench, names)
    return bench


class Each(unittest.TestCase):
    def test_every_case_adds_a_row_with_a_verdict(self):
        for name in [*cases.CASES, *cases.WHEN_ASKED]:
            with self.subTest(case=name):
                bench = play(name)
                self.assertTrue(any(passed is not None for passed in bench.verdicts().values()))

    def test_a_case_that_was_not_asked_for_is_not_run(self):
        self.assertEqual([], play().asked)

    def test_another_build_is_compared_only_when_asked_for(self):
        self.assertNotIn("before", cases.CASES)

    def test_each_case_beside_another_build_has_its_rate_and_its_cpu(self):
        bench = play("before", http={"rate": 100.0, "cpu_us": 1.0})
        rows = [(f"{case}, beside before", f"{case}, CPU beside before") for case in ("noop", "key", "plugin", "sleep", "bulkheads", "http")]
        self.assertEqual([row for pair in rows for row in pair], list(bench.verdicts()))


class Throughput(unittest.TestCase):
    def test_the_rounds_of_the_bare_loop_are_shared_and_alternate(self):
        bench = play("noop", "key")
        programs = [line[0] + " " + line[-1] for line in bench.asked if line[0] != "kafka_tool"]
        self.assertEqual(["bare_loop 1000", "lane_bench noop", "lane_bench key"] * 3, programs)

    def test_the_target_decides(self):
        for rate, passed in ((105, True), (104, False)):
            bench = play("noop", bare_loop={"rate": 100.0, "cpu_us": 1.0}, noop={"rate": float(rate), "cpu_us": 0.5})
            self.assertEqual({"bare loop": None, "noop": passed, "noop, CPU a record": True}, bench.verdicts())

    def test_topics_of_copies_are_deleted(self):
        asked = play("produce").asked
        created = [line[2] for line in asked if line[:2] == ["kafka_tool", "create"] and line[2].startswith("copies")]
        self.assertEqual(9, len(set(created)))
        self.assertEqual(created, [line[2] for line in asked if line[:2] == ["kafka_tool", "delete"]])


class Pool(unittest.TestCase):
    def test_a_peer_that_is_missing_is_named_and_does_not_fail(self):
        rows = {row["case"]: row for row in play("pool", bs={"missing": 1}).rows}
        missing = rows["library's pool, 0 us, 8 workers, beside bs"]
        self.assertIsNone(missing["passed"])
        self.assertIn("LANEWAY_BS_THREAD_POOL", missing["figure"])
        self.assertFalse(rows["library's pool, 0 us, 8 workers, beside tbb"]["passed"])  # as fast is not faster

    def test_a_row_for_each_number_of_workers(self):
        verdicts = {case: passed for case, passed in play("pool").verdicts().items() if case.startswith("pool, ")}
        self.assertEqual({"pool, 1 workers": True, "pool, 8 workers": False}, verdicts)


class Adaptive(unittest.TestCase):
    BEST = adaptive.Best(rate=100.0, p99=0.050)

    @staticmethod
    def answers(*steps):
        """`steps`: (seconds, answers a second, latency)"""
        times, latencies, begin = [], [], 0
        for seconds, rate, latency in steps:
            times += [begin + number / rate for number in range(seconds * rate)]
            latencies += [latency] * (seconds * rate)
            begin += seconds
        return adaptive.Answers(array("d", times), array("d", latencies))

    def test_a_late_or_missing_settling_is_reported_in_seconds(self):
        step = adaptive.judged(self.answers((6, 50, 0.5), (4, 100, 0.5), (35, 100, 0.050)), 0.0, 45.0, self.BEST, 20)
        self.assertEqual((20, 5.0, 10.0), (step.limit, step.rate_settled, step.latency_settled))
        self.assertAlmostEqual(1.0, step.rate)
        self.assertAlmostEqual(1.0, step.p99)
        step = adaptive.judged(self.answers((45, 80, 0.1)), 0.0, 45.0, self.BEST, 20)
        self.assertEqual((None, None), (step.rate_settled, step.latency_settled))
        self.assertAlmostEqual(0.8, step.rate)
        self.assertAlmostEqual(2.0, step.p99)

    def test_the_latency_of_aimd_decides_only_where_calls_are_refused(self):
        verdicts = play("adaptive").verdicts()
        self.assertEqual({None}, {verdicts[f"aimd at {capacity}, p99"] for capacity in adaptive.CAPACITIES})
        self.assertEqual({True}, {verdicts[f"aimd at {capacity} that refuses, p99"] for capacity in adaptive.CAPACITIES})
        self.assertEqual({True}, {verdicts[f"vegas at {capacity}, p99"] for capacity in adaptive.CAPACITIES})
        self.assertEqual({True}, {verdicts[f"gradient at {capacity}"] for capacity in adaptive.CAPACITIES})


class Overload(unittest.TestCase):
    def test_a_lost_record_fails(self):
        records = overload.OVERLOAD_RATE * overload.OVERLOAD_SECONDS
        for done, passed in ((records, True), (records - 1, False)):
            self.assertEqual(passed, play("overload", overload={"done": done}).verdicts()["overload, lost + uncommitted"])

    def test_a_writer_that_failed_ends_the_benchmark(self):
        with no_processes():
            overload.subprocess.Popen.return_value.wait.return_value = 1
            with self.assertRaisesRegex(overload.Failure, "not every record"):
                overload.overload(Seeming())
