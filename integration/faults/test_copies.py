#!/usr/bin/python3
"""A right output passes, and each planted breach is reported as what it is."""
import unittest

from copies import breaches

READ = {(0, "a"): [0, 2, 5], (0, "b"): [1, 3], (1, "a"): [0]}


class Copies(unittest.TestCase):
    def setUp(self):
        self.written = {place: list(offsets) for place, offsets in READ.items()}

    def reported_as(self, *what, lows=None):
        self.assertEqual(set(what), set(breaches(READ, self.written, lows)))

    def test_each_once_in_order(self):
        self.reported_as()

    def test_a_record_is_missing(self):
        self.written[0, "a"].remove(2)
        self.reported_as("lost")

    def test_a_key_is_missing(self):
        del self.written[1, "a"]
        self.reported_as("lost")

    def test_a_record_is_written_twice(self):
        self.written[0, "b"].append(3)
        self.reported_as("written more than once")

    def test_two_records_have_changed_places(self):
        self.written[0, "a"] = [0, 5, 2]
        self.reported_as("out of order")

    def test_a_record_of_another_key(self):
        self.written[0, "b"].append(4)
        self.reported_as("not of the input")

    def test_a_record_that_was_deleted_from_the_input(self):
        self.written[0, "b"].insert(0, 0)
        self.reported_as("not of the input")
        self.reported_as(lows={0: 1})
        self.written[0, "b"].insert(0, 0)
        self.reported_as("written more than once", lows={0: 1})

    def test_a_record_of_another_partition(self):
        self.written[7, "a"] = [0]
        self.reported_as("not of the input")


if __name__ == "__main__":
    unittest.main()
