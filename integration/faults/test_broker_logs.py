#!/usr/bin/python3
"""The parser of the brokers' logs."""
import unittest
from datetime import datetime

from broker_logs import fencings
from facts import Fencing

PLACE = "INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=1] [GroupId orders]"
END = "(org.apache.kafka.coordinator.group.GroupMetadataManager)"


def ns(hour, minute, second, ms):
    return round(datetime(2026, 11, 24, hour, minute, second, ms * 1000).timestamp() * 1000) * 1_000_000


class BrokerLogs(unittest.TestCase):
    def test_the_fenced_member_and_the_time_are_read(self):
        one = (f"2026-11-24 14:23:03,235 {PLACE} Member yH3z/rPx fenced from the group because the member session expired. {END}\n"
               f"2026-11-24 14:23:04,000 {PLACE} Member B8Vw+Dea joined the consumer group with epoch 0. {END}\n")
        other = f"2026-11-24 14:23:01,007 {PLACE} Member B8Vw+Dea fenced from the group because it is late. {END}\n"
        found = fencings([one, other], "orders", {"yH3z/rPx": "m1", "B8Vw+Dea": "m2"})
        self.assertEqual([Fencing("m2", ns(14, 23, 1, 7)), Fencing("m1", ns(14, 23, 3, 235))], found)

    def test_other_groups_and_unknown_members(self):
        line = f"2026-11-24 14:23:03,235 {PLACE} Member yH3z/rPx fenced from the group because the member session expired. {END}\n"
        self.assertEqual([], fencings([line], "orders-eu", {"yH3z/rPx": "m1"}))
        self.assertEqual([], fencings([line], "orders", {}))


if __name__ == "__main__":
    unittest.main()
