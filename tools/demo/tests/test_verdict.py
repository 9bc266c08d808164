"""Accounts and verdicts, from evidence with known faults."""
import json
import tempfile
import unittest
from pathlib import Path

from tools.demo import evidence
from tools.demo.verdict import Account, Verdict

SECOND = 10**9


def line(offset, start=0, end=SECOND, outcome="success"):
    return json.dumps({"topic": "t", "partition": 0, "offset": offset, "epoch": 1, "attempt": 1, "start": start, "end": end,
                       "outcome": outcome, "key": None}, separators=(",", ":")) + "\n"


class Accounts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file

    def account(self, journals, produced=4, committed=4):
        acks = self.file("acks", "".join(json.dumps({"topic": "t", "partition": 0, "offset": offset, "time": 0}) + "\n"
                                         for offset in range(produced)))
        files = [self.file(f"{number}.journal", "".join(lines)) for number, lines in enumerate(journals)]
        return Account("name", evidence.acknowledged(acks), evidence.successes(files), {("t", 0): committed})

    def test_all_is_done_once(self):
        account = self.account([[line(offset) for offset in range(4)]])
        self.assertTrue(account.complete())
        self.assertEqual((4, 4, 4, 0, 0, 0), (account.produced, account.processed, account.committed, account.lost,
                                              account.unfinished, account.duplicated))
        self.assertEqual(4.0, account.rate)

    def test_a_record_that_was_committed_and_not_done_is_lost(self):
        account = self.account([[line(0), line(1), line(3)]])
        self.assertEqual({("t", 0, 2)}, account.lost_places)
        self.assertFalse(account.complete())

    def test_a_record_that_was_not_committed_is_unfinished_and_not_lost(self):
        account = self.account([[line(0), line(1)]], committed=2)
        self.assertEqual((0, 2, 2), (account.lost, account.unfinished, account.committed))
        self.assertFalse(account.complete())

    def test_records_that_are_done_but_not_committed_are_not_complete(self):
        self.assertFalse(self.account([[line(offset) for offset in range(4)]], committed=3).complete())

    def test_a_record_that_two_members_did_ran_twice_and_the_first_is_known(self):
        account = self.account([[line(0, end=5), line(1)], [line(0, end=3), line(2), line(3)]])
        self.assertEqual(1, account.duplicated)
        self.assertEqual("1", account.repeats["t", 0, 0][0].journal)

    def test_failed_attempts_finish_nothing_and_dead_letters_do(self):
        account = self.account([[line(0, outcome="retry"), line(1, outcome="dead_letter"), line(2), line(3)]])
        self.assertEqual((1, 3, 1), (account.lost, account.processed, account.given_up))

    def test_a_line_that_a_kill_has_cut_is_left_out(self):
        account = self.account([[line(0), line(1)[:-9]]], committed=1)
        self.assertEqual(1, account.processed)

    def test_a_tail_counts_each_line_once(self):
        file = self.file("growing", line(0) + line(1)[:-5])
        tail = evidence.Tail(file)
        self.assertEqual((1, 1), (tail.finished(), tail.finished()))
        file.write_text(line(0) + line(1) + line(2, outcome="retry"))
        self.assertEqual(2, tail.finished())
        self.assertEqual(0, evidence.Tail(self.folder / "none").finished())

    def test_waits_are_from_the_acknowledgement_to_the_first_start(self):
        found = evidence.successes([self.file("j", line(0, start=3 * SECOND) + line(1, start=SECOND))])
        waits = evidence.waits({("t", 0, 0): 0, ("t", 0, 1): 0, ("t", 0, 2): 0}, found)
        self.assertEqual([1.0, 3.0], waits)
        self.assertEqual((1.0, 3.0), (evidence.percentile(waits, 0), evidence.percentile(waits, 99)))


class Verdicts(unittest.TestCase):
    def test_one_wrong_check_fails_and_no_check_is_no_verdict(self):
        verdict = Verdict()
        self.assertFalse(verdict.right())
        verdict.check(True, "a")
        self.assertTrue(verdict.right())
        verdict.check(0, "b")
        self.assertFalse(verdict.right())
        self.assertEqual(["right  a", "WRONG  b"], list(verdict.lines()))

    def test_the_table_has_a_row_for_each_account(self):
        verdict = Verdict()
        verdict.account(Account("laneway", {("t", 0, 0): 0}, {}, {}))
        head, row, *_ = verdict.lines()
        self.assertEqual(["produced", "processed", "committed", "lost", "unfinished", "duplicated"], head.split())
        self.assertEqual(["laneway", "1", "0", "0", "0", "1", "0"], row.split())
