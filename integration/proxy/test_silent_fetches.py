#!/usr/bin/python3
"""What is left of a fetch: the framing of each kind of version."""
import struct
import unittest

import frames
from silent_fetches import Fetch


def fetch(version, topics, end=b"\0\0"):
    """A fetch of `topics` ([name, [partition]]) as clients write it: names of 16 bytes, which are ids from version 13 on."""
    flexible = version >= 12
    tags = b"\0" if flexible else b""

    def array(items):
        return (bytes([len(items) + 1]) if flexible else struct.pack(">i", len(items))) + b"".join(items)

    def name_of(name):
        if version >= 13:
            return name
        return (bytes([len(name) + 1]) if flexible else struct.pack(">h", len(name))) + name

    def partition(number):
        return (struct.pack(">i", number) + (struct.pack(">i", 7) if version >= 9 else b"") + struct.pack(">q", 1 << 40)
                + (struct.pack(">i", -1) if flexible else b"") + (struct.pack(">q", -1) if version >= 5 else b"")
                + struct.pack(">i", 1 << 20) + tags)

    body = (b"" if version >= 15 else struct.pack(">i", -1)) + struct.pack(">iiib", 100, 1, 1 << 20, 1)
    body += struct.pack(">ii", 0, -1) if version >= 7 else b""
    body += array([name_of(name) + array([partition(number) for number in numbers]) + tags for name, numbers in topics])
    head = struct.pack(">hhih", frames.FETCH, version, 3, 7) + b"laneway" + tags
    return frames.parse_request(head + body + end)


class WhatIsLeftOfAFetch(unittest.TestCase):
    ONE, OTHER = b"orders----------", b"payments--------"

    def test_partitions_are_left_out_in_every_version(self):
        for version in range(4, 18):
            with self.subTest(version=version):
                whole = fetch(version, [(self.ONE, [0, 1, 2]), (self.OTHER, [1])])
                left = Fetch(whole).without({1})
                self.assertEqual(fetch(version, [(self.ONE, [0, 2])]).frame, left)

    def test_a_fetch_without_these_partitions_is_unchanged(self):
        for version in (11, 12, 17):
            whole = fetch(version, [(self.ONE, list(range(100)))], end=b"\0\0rack\0")
            self.assertEqual(whole.frame, Fetch(whole).without({100}))

    def test_nothing_may_be_left(self):
        self.assertEqual(fetch(17, []).frame, Fetch(fetch(17, [(self.ONE, [0])])).without({0}))


if __name__ == "__main__":
    unittest.main()
