#!/usr/bin/python3
"""What is left of an answer about metadata, and which answers are changed."""
import struct
import unittest

import frames
from no_brokers import NoBrokers, without_brokers

BODY = b"the cluster, the topics"


def asked(version, topics):
    tags = b"\0" if version >= 9 else b""
    head = struct.pack(">hhih", frames.METADATA, version, 3, 7) + b"laneway" + tags
    return frames.parse_request(head + bytes([len(topics) + 1]) + b"".join(topics))


def answer(brokers):
    """Of version 9 or later; `brokers`: [(number, rack)]."""
    def broker(number, rack):
        return (struct.pack(">i", number) + b"\x0a127.0.0.1" + struct.pack(">i", 9092)
                + (b"\0" if rack is None else bytes([len(rack) + 1]) + rack) + b"\0")
    return struct.pack(">ibi", 3, 0, 0) + bytes([len(brokers) + 1]) + b"".join(broker(*each) for each in brokers) + BODY


class WhatIsLeftOfAnAnswer(unittest.TestCase):
    def test_everything_but_the_brokers(self):
        for brokers in ([], [(1, None)], [(1, b"a"), (2, b""), (3, None)]):
            self.assertEqual(answer([]), without_brokers(answer(brokers)))


class WhichAnswersAreChanged(unittest.TestCase):
    def setUp(self):
        self.proxy = NoBrokers("127.0.0.1:1")
        self.addCleanup(self.proxy.stop)
        self.whole = answer([(1, None)])

    def test_the_next_answer_with_topics_is_changed(self):
        named = asked(12, [b"orders"])
        self.assertEqual(self.whole, self.proxy.changed_answer(named, self.whole))
        self.proxy.fence()
        self.assertEqual(self.whole, self.proxy.changed_answer(asked(12, []), self.whole))
        self.assertEqual(answer([]), self.proxy.changed_answer(named, self.whole))
        self.assertEqual(self.whole, self.proxy.changed_answer(named, self.whole))
        self.assertEqual(1, self.proxy.fenced)

    def test_answers_of_other_kinds_are_unchanged(self):
        self.proxy.fence()
        fetch = asked(12, [b"orders"])._replace(api=frames.FETCH)
        self.assertEqual(self.whole, self.proxy.changed_answer(fetch, self.whole))
        self.assertEqual(self.whole, self.proxy.changed_answer(asked(8, [b"orders"]), self.whole))


if __name__ == "__main__":
    unittest.main()
