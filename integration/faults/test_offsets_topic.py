#!/usr/bin/python3
"""Commits and generations as a Kafka 4.1.1 wrote them into __consumer_offsets, and as older ones do."""
import base64
import json
import struct
import unittest

from offsets_topic import PREFIX, claims_of, completion_runs, crc32c, read_group

GROUP = "sample-15799"
PARTITION = (GROUP, 2)
COMMIT_KEY = "0001000c73616d706c652d3135373939000c73616d706c652d313537393900000002"
COMMIT = "00040000000000000000ffffffff096c697665733d3120000001a20693783000"
GENERATION = ("00030008636f6e73756d657200000001000572616e676500276d312d61623330646234612d393337632d343431332d623630662d32376265"
              "3362636566303038000001a2069377920000000100276d312d61623330646234612d393337632d343431332d623630662d32376265336263"
              "6566303038ffff00026d31000a2f3132372e302e302e31000493e00000afc80000001c000100000001000c73616d706c652d313537393900"
              "0000000000000000000028000000000001000c73616d706c652d31353739390000000300000000000000010000000200000000")
# Of the consumer protocol: a member; it keeps the partitions 0 and 1 of its topic, and is to give back 2 to 5.
MEMBER_ID, TOPIC = "D/y2p1jlTN67a6u98Gnz5g", "faults-3-514901"
MEMBER = ("00000000136d332d6661756c74732d332d3531343930310b2f3132372e302e302e3102106661756c74732d332d35313439303101000493e00001"
          "000100")
ASSIGNMENT = ("000000000001000000010102dbd4f9686e184d19847e7348e4e04fcb0300000000000000010002dbd4f9686e184d19847e7348e4e04fcb05"
              "000000020000000300000004000000050000")


def record(key, value, offset=0):
    return json.dumps({"partition": 0, "offset": offset, "timestamp": 5, "key": key, "value": value, "headers": []})


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def varint(value):
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def map_of(*numbers):
    body = b"".join(map(varint, numbers))
    coded = base64.urlsafe_b64encode(body + struct.pack("<I", crc32c(PREFIX + body)))
    return (PREFIX + coded.rstrip(b"=")).decode()


class Group(unittest.TestCase):
    def test_a_commit(self):
        (commit,), generations = read_group([record(COMMIT_KEY, COMMIT, 7)], GROUP)
        self.assertEqual((7, 1795406657584, PARTITION, 0, ()), tuple(commit))
        self.assertEqual([], generations)

    def test_a_commit_of_an_older_broker(self):
        value = struct.pack(">hqih", 3, 9, -1, 8) + b"lives=1 " + struct.pack(">q", 77)
        (commit,), _ = read_group([record(COMMIT_KEY, value.hex())], GROUP)
        self.assertEqual((77, 9), (commit.time, commit.offset))

    def test_an_offset_that_was_deleted(self):
        (commit,), _ = read_group([record(COMMIT_KEY, None)], GROUP)
        self.assertIsNone(commit.offset)

    def test_a_generation(self):
        key = (struct.pack(">h", 2) + text(GROUP)).hex()
        commits, (generation,) = read_group([record(key, GENERATION, 3), record(key, None, 4)], GROUP)
        member = "m1-ab30db4a-937c-4413-b60f-27be3bcef008"
        self.assertEqual((3, 5, 1, {member: "m1"}), tuple(generation)[:4])
        self.assertEqual({(GROUP, number): member for number in range(3)}, generation.owners)
        self.assertEqual(("range", {member: set()}), (generation.protocol, generation.claims))
        self.assertEqual([], commits)

    def test_the_partitions_that_a_member_claims(self):
        name = text(GROUP)
        topics, user_data = struct.pack(">i", 1) + name, struct.pack(">i", 3) + b"any"
        owned = struct.pack(">i", 1) + name + struct.pack(">iii", 2, 0, 4)
        self.assertEqual({(GROUP, 0), (GROUP, 4)}, claims_of(struct.pack(">h", 1) + topics + user_data + owned))
        self.assertEqual(set(), claims_of(struct.pack(">h", 1) + topics + struct.pack(">ii", -1, 0)))
        self.assertEqual(set(), claims_of(struct.pack(">h", 0) + topics + user_data))

    def test_members_that_the_brokers_give_partitions(self):
        member, assignment = ((struct.pack(">h", kind) + text(GROUP) + text(MEMBER_ID)).hex() for kind in (5, 8))
        commits, generations = read_group([record(member, MEMBER, 3), record(assignment, ASSIGNMENT, 4),
                                           record(assignment, None, 6), record(member, None, 7)], GROUP)
        has, gone = generations
        self.assertEqual((4, 5, 1, {MEMBER_ID: "m3-" + TOPIC}), tuple(has)[:4])
        self.assertEqual({(TOPIC, number): MEMBER_ID for number in range(6)}, has.owners)
        self.assertEqual((6, {}, {}, "consumer"), (gone.position, gone.members, gone.owners, gone.protocol))
        self.assertEqual([], commits)

    def test_another_group(self):
        self.assertEqual(([], []), read_group([record(COMMIT_KEY, COMMIT), record("", COMMIT)], "other"))


class CompletionMaps(unittest.TestCase):
    def test_metadata_without_a_map(self):
        self.assertEqual([], completion_runs("", 5))
        self.assertEqual([], completion_runs("lives=1 ", 5))
        self.assertEqual([], completion_runs("failed=0,5 ", 5))

    def test_runs_after_a_marker(self):
        self.assertEqual([(303, 304), (306, 506)], completion_runs("lives=1 " + map_of(300, 3, 1, 2, 200), 300))
        self.assertEqual([(303, 304), (306, 506)], completion_runs("lives=1 failed=0,1 " + map_of(300, 3, 1, 2, 200), 300))

    def test_the_text_that_the_service_writes(self):
        self.assertEqual([(1002, 1005), (1015, 1215)], completion_runs("laneway1:6AcCAwrIAdIyeeU", 1000))
        self.assertEqual(0xE3069283, crc32c(b"123456789"))  # the check value of CRC-32C

    def test_invalid_maps_are_refused(self):
        for text, reason in ((map_of(300, 3, 1), "another offset"), ("other", "not laneway's"),
                             (map_of(301, 3, 1)[:-1] + "_", "checksum")):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, reason):
                completion_runs(text, 301)


if __name__ == "__main__":
    unittest.main()
