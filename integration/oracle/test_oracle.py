#!/usr/bin/python3
"""The oracle passes a right service and catches each planted bug."""
import unittest

from checks import Promises
from evidence import Evidence
from oracle import judge
from planted import BUGS, LETTERS, RETRY, TOPIC, World


IN_ORDER = "park although records keep an order"
# In order there are no retry topics, and nothing is parked.
WITHOUT_ORDER = ("attempt lost on restart", *(bug for bug in BUGS if ("park" in bug or "sub-job" in bug) and bug != IN_ORDER))


def evidence_of(world):
    evidence = Evidence()
    for process, lines in world.journals.items():
        evidence.add_journal(lines, process)
    evidence.add_log(world.log())
    evidence.add_records(TOPIC, world.read(TOPIC))
    evidence.add_copies("retry_topic", RETRY, world.read(RETRY))
    evidence.add_copies("dead_letter", LETTERS, world.read(LETTERS))
    for time, lines in world.commits():
        evidence.add_commits(lines, time)
    return evidence


def violations(world, **promises):
    return judge(evidence_of(world), Promises(**promises))["violations"]


class ARightServicePasses(unittest.TestCase):
    def test_with_an_orderly_hand_over(self):
        for order in ("none", "key", "partition"):
            for seed in range(5):
                with self.subTest(order=order, seed=seed):
                    self.assertEqual({}, violations(World(order=order, seed=seed), order=order, stopped_clean=True))

    def test_with_a_kill_when_redelivery_is_allowed(self):
        for seed in range(5):
            world = World(killed=True, seed=seed)
            self.assertEqual({}, violations(world, stopped_clean=True, duplicates=100, settled=world.commit_times[-1]))

    def test_a_kill_without_allowance_is_a_violation(self):
        self.assertEqual({"duplicates_within_bounds"}, set(violations(World(killed=True))))


class PlantedBugsAreCaught(unittest.TestCase):
    CAUGHT_BY = {
        "commit the highest polled offset": "committed_was_processed",
        "clamp backwards delivery": "committed_was_processed",
        "skip the rejected record": "committed_was_processed",
        "commit after revoke": "commits_never_go_back",
        "start after revoke": "no_start_after_revoke",
        "process one twice": "one_assignment_never_repeats",
        "break key order": "ordered",
        "overlap a retry": "one_assignment_never_repeats",
        "lose one": "nothing_lost",
        "run aborted data": "nothing_invented",
        "leave the last uncommitted": "complete_means_no_lag",
        "redeliver all": "redelivered_only_recent",
        "complete before acknowledged": "given_up_is_there",
        "complete what was not written": "committed_was_processed",
        "change a dead letter": "copies_are_whole",
        "write a dead letter with its old timestamp": "copies_are_whole",
        "attempt lost on restart": "attempts_are_counted",
        "count the outage as attempts": "attempts_are_counted",
        "breaker that commits": "committed_was_processed",
        "park without an acknowledged write": "given_up_is_there",
        "complete what was not parked": "committed_was_processed",
        "park a sub-job and run it, too": "one_assignment_never_repeats",
        "write a parked record twice": "moved_once",
        "use up attempts while parked": "given_up_is_there",
        "finish a record whose sub-job waits": "committed_was_processed",
        IN_ORDER: "ordered",
    }

    def test_every_bug_has_its_check(self):
        self.assertEqual(sorted(BUGS), sorted(self.CAUGHT_BY))

    def test_each_bug_is_caught_by_its_check(self):
        for bug, check in self.CAUGHT_BY.items():
            with self.subTest(bug=bug):
                order = "none" if bug in WITHOUT_ORDER else "key"
                world = World(bug, order=order, killed=bug in ("clamp backwards delivery", "redeliver all"))
                found = violations(world, order=order, stopped_clean=True, duplicates=0, settled=world.commit_times[-1])
                self.assertIn(check, found)

    def test_partition_order_is_judged(self):
        self.assertIn("ordered", violations(World("break key order", order="partition"), order="partition"))


class Journals(unittest.TestCase):
    LINE = ('{"topic":"a","partition":0,"offset":7,"epoch":1,"attempt":1,"start":1,"end":2,"outcome":"success",'
            '"key":null}\n')

    def test_a_torn_last_line_is_counted(self):
        evidence = Evidence()
        evidence.add_journal([self.LINE, self.LINE[:30]], "torn")
        self.assertEqual((1, 1), (evidence.torn, len(evidence.attempts["a", 0])))

    def test_a_torn_line_in_the_middle_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "torn:1"):
            Evidence().add_journal([self.LINE[:30], self.LINE], "torn")

    def attempts(self, *outcomes, others=()):
        """The violations of a record with these attempts: (number, outcome); `others`: the lines of other records, which come first."""
        evidence = Evidence()
        evidence.add_journal([*others] + [self.LINE.replace('"attempt":1', f'"attempt":{number}').replace("success", outcome).replace(
            '"start":1,"end":2', f'"start":{time},"end":{time + 1}') for time, (number, outcome) in enumerate(outcomes, 2)], "one")
        return judge(evidence, Promises())["violations"].get("attempts_are_counted", {}).get("at", [])

    def test_a_letter_names_the_last_attempt(self):
        self.assertEqual([], self.attempts((1, "retry"), (2, "retry"), (2, "dead_letter")))
        self.assertEqual(1, len(self.attempts((1, "retry"), (2, "retry"), (1, "dead_letter"))))

    def test_a_letter_has_no_attempts_that_an_outage_gave_back(self):
        self.assertEqual([], self.attempts((1, "retry"), (2, "retry"), (3, "unavailable"), (2, "dead_letter")))
        self.assertEqual(1, len(self.attempts((1, "retry"), (2, "unavailable"), (3, "dead_letter"))))

    def test_a_letter_has_no_attempts_that_were_given_back_once_other_records_failed(self):
        other = self.LINE.replace('"offset":7', '"offset":8').replace("success", "retry")
        self.assertEqual([], self.attempts((1, "retry"), (2, "retry"), (1, "dead_letter"), others=[other]))

    def test_what_is_parked_has_the_attempts_that_counted(self):
        self.assertEqual([], self.attempts((0, "parked")))
        self.assertEqual([], self.attempts((1, "unavailable"), (0, "parked")))
        self.assertEqual([], self.attempts((1, "retry"), (2, "unavailable"), (0, "parked")))
        self.assertEqual([], self.attempts((1, "retry"), (1, "parked_failed"), (2, "success")))
        self.assertEqual(1, len(self.attempts((1, "parked"))))
        self.assertEqual(1, len(self.attempts((1, "unavailable"), (1, "parked"))))
        self.assertEqual(1, len(self.attempts((1, "parked_failed"))))

    def test_a_report_names_the_record(self):
        evidence = Evidence()
        evidence.add_journal([self.LINE], "one")
        evidence.add_log(['{"topic":"a","partition":0,"offset":8,"key":null}', '{"topic":"a","partition":0,"low":0,"end":9}'])
        report = judge(evidence, Promises())
        self.assertEqual(["a-0-8: in the log, but never processed"], report["violations"]["nothing_lost"]["at"])


if __name__ == "__main__":
    unittest.main()
