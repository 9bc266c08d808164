"""Medians: of figures, and of ratios within rounds."""
import unittest

from tools.bench import figures
from tools.bench.table import table


class Figures(unittest.TestCase):
    def test_a_rate_is_the_median(self):
        self.assertEqual("2,000/s", figures.rates([{"rate": 1000}, {"rate": 9000}, {"rate": 2000}]))

    def test_a_ratio_is_that_of_each_round(self):
        slow_then_fast = [{"rate": 1.0}, {"rate": 10.0}, {"rate": 100.0}]
        twice = [{"rate": 2 * one["rate"]} for one in slow_then_fast]
        self.assertEqual(2.0, figures.ratio_of(twice, slow_then_fast))
        self.assertEqual(0.5, figures.ratio_of([{"cpu_us": 1.0}], [{"cpu_us": 2.0}], "cpu_us"))


class Table(unittest.TestCase):
    def test_missing_values_are_left_empty(self):
        row = {"case": "pool", "figure": "20 ns", "ratio": None, "cpu_us": None, "peak_mib": None, "target": "", "passed": None}
        self.assertEqual(["case  figure  ratio  CPU us  peak MiB  target", "pool  20 ns"], table([row]).splitlines())
