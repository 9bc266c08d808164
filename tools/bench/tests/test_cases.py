"""The programs that each case runs, and the rows that it adds, with programs that only seem to have run."""
import contextlib
import io
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from tools.bench import cases
from tools.bench.bench import Bench
from tools.bench.cases import order, overload, web


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


@contextlib.contextmanager
def no_processes():
    there = contextlib.nullcontext("http://127.0.0.1:1/orders")
    with mock.patch.object(web, "http_server", return_value=there), mock.patch.object(order, "http_server", return_value=there), \
            mock.patch.object(web, "wrk", return_value=Result()), \
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


class Overload(unittest.TestCase):
    def test_what_is_lost_fails(self):
        records = overload.OVERLOAD_RATE * overload.OVERLOAD_SECONDS
        for done, passed in ((records, True), (records - 1, False)):
            self.assertEqual(passed, play("overload", overload={"done": done}).verdicts()["overload, lost + uncommitted"])

    def test_a_writer_that_failed_ends_the_benchmark(self):
        with no_processes():
            overload.subprocess.Popen.return_value.wait.return_value = 1
            with self.assertRaisesRegex(overload.Failure, "not every record"):
                overload.overload(Seeming())
