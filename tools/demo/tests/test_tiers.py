"""What the demo of priorities computes from journals, with planted records: how many ran at once, and which waited for too long."""
import unittest
from pathlib import Path

from tools.demo import tiers
from tools.demo.evidence import Attempt

SECOND = tiers.NS


def job(start, end, tier="high", appended=0.0):
    """Times in seconds."""
    return tiers.Job(tier, tier, int(appended * SECOND), int(start * SECOND), int(end * SECOND))


def header(name, text):
    return [name, text.encode().hex()]


class Records(unittest.TestCase):
    def test_the_last_priority_of_a_record_counts(self):
        lines = [{"partition": 0, "offset": 7, "timestamp": 1500, "headers": [header("priority", "low"), header("priority", "high")]},
                 {"partition": 1, "offset": 0, "timestamp": 1501, "headers": [header("other", "high"), ["priority", None]]}]
        self.assertEqual({("jobs", 0, 7): (1_500_000_000, "high"), ("jobs", 1, 0): (1_501_000_000, None)}, tiers.written("jobs", lines))

    def test_an_unknown_or_missing_priority_belongs_to_the_default(self):
        records = {("jobs", 0, 0): (1, "urgent"), ("jobs", 0, 1): (2, None), ("jobs", 0, 2): (3, "low"), ("jobs", 0, 3): (4, "high")}
        found = {place: [Attempt(place, "laneway", 30 - place[2], 40, "success", {"pool": "medium"})] for place in list(records)[:3]}
        jobs = tiers.jobs(records, found, ("high", "medium", "low"), "medium")
        self.assertEqual(["low", "medium", "medium"], [one.tier for one in jobs])  # by their start; the last one was not finished
        self.assertEqual([False, True, True], [one.tier == one.pool for one in jobs])

    def test_a_record_belongs_to_the_phase_in_which_it_was_written(self):
        late = job(9, 10, appended=1.5)
        phases = tiers.by_phase([job(1, 2, appended=1), late, job(3, 4, appended=2)], {"calm": SECOND, "flood": 2 * SECOND})
        self.assertEqual([2, 1], [len(phases[name]) for name in ("calm", "flood")])
        self.assertIn(late, phases["calm"])


class AtOnce(unittest.TestCase):
    def test_successive_records_ran_on_one_worker(self):
        self.assertEqual(1, tiers.at_once([job(0, 1), job(1, 2), job(2, 3)]))

    def test_records_that_overlap_ran_on_several_workers(self):
        self.assertEqual(3, tiers.at_once([job(0, 4), job(1, 3), job(2, 5), job(4, 6), job(5, 7)]))
        self.assertEqual(0, tiers.at_once([]))


class Lateness(unittest.TestCase):
    def test_a_record_that_begins_within_the_longest_wait_is_not_late(self):
        self.assertEqual(0, tiers.lateness([job(2, 3, "low"), job(3, 4, "low", appended=2.5)], 2, 0.05))

    def test_time_above_the_longest_wait_is_late(self):
        self.assertEqual(1.5, tiers.lateness([job(3.5, 4, "low")], 2, 0.05))

    def test_a_record_may_wait_until_the_share_has_paid_for_earlier_records(self):
        together = [job(2, 3, "low"), job(12, 13, "low"), job(22.25, 23.25, "low")]
        self.assertEqual(0.25, tiers.lateness(together, 2, 0.1))
        self.assertEqual(0, tiers.lateness(together[:2], 2, 0.1))

    def test_records_that_begin_early_are_paid_from_their_start(self):
        self.assertEqual(1, tiers.lateness([job(0, 1, "low"), job(11, 12, "low")], 0, 0.1))


class Busy(unittest.TestCase):
    def test_the_time_of_records_within_a_span_counts(self):
        self.assertEqual(0.75, tiers.busy([job(0, 2), job(2, 3), job(4, 9), job(9, 10)], SECOND, 5 * SECOND))


    def test_the_workers_of_endless_records_count_until_the_last_start(self):
        self.assertEqual(1.5, tiers.worked([job(1, 3), job(2, 3), job(3, 5), job(3, 9)]))


class Table(unittest.TestCase):
    def test_a_row_has_the_figures_below_their_names(self):
        row = tiers.row("flood of high", "medium", [job(0.25 * number, 1.0 * number, appended=0) for number in (1, 2, 4)])
        self.assertEqual(["flood", "of", "high", "medium", "3", "250.0", "500.0", "1,000.0", "1,000.0",
                          "1,000.0", "2,000.0", "4,000.0", "4,000.0"], row.split())
        self.assertEqual({len(row)}, {len(line) for line in tiers.HEAD})

    def test_a_rate_counts_from_the_first_start_to_the_last_end(self):
        self.assertEqual(2, tiers.per_second([job(1, 2), job(1, 2.5), job(2, 3)] + [job(2, 3)]))


class DoneOfWritten(unittest.TestCase):
    def test_jobs_that_end_late_were_done_more_slowly_than_written(self):
        self.assertEqual(0.8, tiers.done_of_written([job(1, 2, appended=1), job(3, 6, appended=2), job(4, 5, appended=5)]))


class Configuration(unittest.TestCase):
    def test_the_demo_knows_the_workers_and_the_longest_wait_of_its_configuration(self):
        from tools.demo.systems import priority_tiers
        text = (Path(__file__).resolve().parents[3] / priority_tiers.CONFIG).read_text()
        for tier, workers in priority_tiers.WORKERS.items():
            self.assertRegex(text, rf"\n  {tier}: [^\n]*\n    workers: {workers}\b")
        self.assertEqual(2, text.count(f"longest_wait: {priority_tiers.LONGEST_WAIT:.0f}s"))


if __name__ == "__main__":
    unittest.main()
