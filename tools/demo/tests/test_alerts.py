"""Scraped metrics as a test for promtool; the demo of notifications runs promtool itself."""
import unittest

from tools.demo.alerts import Scrapes


class Alerts(unittest.TestCase):
    def test_each_series_has_its_samples_and_gaps(self):
        scrapes = Scrapes("laneway_a_total")
        for text in ('laneway_a_total{topic="t"} 1\nlaneway_b_total 5\n', "", 'laneway_a_total{topic="t"} 3\nlaneway_a_total{topic="u"} 7\n'):
            scrapes.add(text)
        test = scrapes.test_of("LanewayRejections")["tests"][0]
        self.assertEqual([{"series": 'laneway_a_total{topic="t"}', "values": "1 _ 3"},
                          {"series": 'laneway_a_total{topic="u"}', "values": "_ _ 7"}], test["input_series"])
        self.assertEqual("2m", test["promql_expr_test"][0]["eval_time"])
        self.assertIn('alertname="LanewayRejections",alertstate="firing"', test["promql_expr_test"][0]["expr"])
