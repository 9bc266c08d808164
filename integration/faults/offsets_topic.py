"""Reads __consumer_offsets: every commit of a group in the order of the log, completion map included, and its generations.

The input is what `kafka_tool read __consumer_offsets` prints. The layouts are those of Kafka's OffsetCommitValue (versions
0 to 4) and GroupMetadataValue (versions 0 to 3), and under the consumer protocol those of ConsumerGroupMemberMetadataValue and
ConsumerGroupCurrentMemberAssignmentValue; the completion map's is that of lib/lane/ledger/completion_map.h, read here by code of its own.
"""
import base64
import json
import struct

from facts import Commit, Generation

OFFSET_KEYS, GROUP_KEY = (0, 1), 2
MEMBER_KEY, ASSIGNMENT_KEY = 5, 8  # of the consumer protocol
PREFIX = b"laneway1:"


class Reader:
    """Takes Kafka's types off the front of some bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        (value,) = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return value

    def bytes(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def text(self):
        """A string with a length of two bytes; None for null."""
        size = self.take("h")
        return None if size < 0 else self.bytes(size).decode()

    def block(self):
        return self.bytes(self.take("i"))

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def compact_text(self):
        """A string of a flexible version; None for null."""
        size = self.varint() - 1
        return None if size < 0 else self.bytes(size).decode()

    def compact_array(self, element):
        return [element() for _ in range(self.varint() - 1)]

    def skip_tags(self):
        for _ in range(self.varint()):
            self.varint()
            self.bytes(self.varint())


def crc32c(data):
    """RFC 3720, B.4."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def completion_runs(metadata, base):
    """[(begin, end)] of what the metadata of a commit says is finished at or above `base`."""
    text = metadata.split(" ")[-1].encode()  # a marker of lives and suspects may stand before
    if not text:
        return []
    if not text.startswith(PREFIX):
        raise ValueError(f"the metadata of a commit is not laneway's: {metadata!r}")
    coded = text[len(PREFIX):]
    body = base64.urlsafe_b64decode(coded + b"=" * (-len(coded) % 4))
    if crc32c(PREFIX + body[:-4]) != struct.unpack("<I", body[-4:])[0]:
        raise ValueError(f"the completion map of a commit has a wrong checksum: {metadata!r}")
    reader = Reader(body[:-4])
    if reader.varint() != base:
        raise ValueError(f"the completion map of a commit is of another offset than {base}: {metadata!r}")
    runs, end = [], base
    while reader.at < len(reader.data):
        begin = end + reader.varint()
        end = begin + reader.varint()
        runs.append((begin, end))
    return runs


def commit_of(position, key, value):
    partition = (key.text(), key.take("i"))
    if value is None:
        return Commit(position, None, partition, None, ())
    version, offset = value.take("h"), value.take("q")
    if version >= 3:
        value.take("i")  # the leader's epoch
    metadata = value.compact_text() if version >= 4 else value.text()
    return Commit(position, value.take("q"), partition, offset, tuple(completion_runs(metadata, offset)))


def partitions_of(reader):
    found = []
    for _ in range(reader.take("i")):
        topic = reader.text()
        found += [(topic, reader.take("i")) for _ in range(reader.take("i"))]
    return found


def assignment_of(data):
    if not data:
        return []
    reader = Reader(data)
    reader.take("h")
    return partitions_of(reader)


def claims_of(data):
    """What a member says in its subscription (ConsumerProtocolSubscription, from version 1 on) that it has."""
    reader = Reader(data)
    if reader.take("h") < 1:
        return set()
    for _ in range(reader.take("i")):
        reader.text()
    user_data = reader.take("i")
    reader.bytes(max(user_data, 0))
    return set(partitions_of(reader))


def generation_of(position, time, value):
    """A generation of a classic group. A group without members has a generation, too."""
    version = value.take("h")
    value.text()
    number, protocol, _ = value.take("i"), value.text(), value.text()
    if version >= 2:
        value.take("q")
    members, owners, claims = {}, {}, {}
    for _ in range(value.take("i")):
        member = value.text()
        if version >= 3:
            value.text()  # the group instance
        client, _ = value.text(), value.text()
        if version >= 1:
            value.take("i")
        value.take("i")
        claims[member] = claims_of(value.block())
        members[member] = client
        owners.update({partition: member for partition in assignment_of(value.block())})
    return Generation(position, time, number, members, owners, protocol, claims)


class MembersByBrokers:
    """A group of the consumer protocol. Its log changes one member at a time; each change is a generation here. A member has a
    partition until a record says that it has given it back, or that the member is gone."""

    def __init__(self):
        self.clients, self.topics = {}, {}  # the coordinator's id of a member -> its client.id, the topic that it reads
        self.held = {}  # likewise -> partitions
        self.epoch = 0

    def note_member(self, member, value):
        if value is None:
            return
        value.take("h"), value.compact_text(), value.compact_text()
        self.clients[member], _ = value.compact_text(), value.compact_text()
        topics = value.compact_array(value.compact_text)
        if len(topics) != 1:  # assignments name topics by ids
            raise ValueError(f"{self.clients[member]} reads {topics}, and not one topic")
        (self.topics[member],) = topics

    def note_assignment(self, member, value):
        if value is None:
            self.held.pop(member, None)
            return
        value.take("h")
        self.epoch, _, _ = value.take("i"), value.take("i"), value.take("b")
        assigned, to_give_back = (value.compact_array(lambda: self.numbers(value)) for _ in range(2))
        self.held[member] = [(self.topics[member], number) for numbers in assigned + to_give_back for number in numbers]

    @staticmethod
    def numbers(value):
        """The partitions of one topic."""
        value.bytes(16)  # the topic's id
        numbers = value.compact_array(lambda: value.take("i"))
        value.skip_tags()
        return numbers

    def generation(self, position, time):
        owners = {partition: member for member, partitions in self.held.items() for partition in partitions}
        return Generation(position, time, self.epoch, {member: self.clients[member] for member in self.held}, owners, "consumer")


def read_group(lines, group):
    """(commits, generations) of this group."""
    commits, generations, by_brokers = [], [], MembersByBrokers()
    for record in map(json.loads, lines):
        key = Reader(bytes.fromhex(record["key"] or ""))
        kind = key.take("h") if key.data else None
        if kind not in (*OFFSET_KEYS, GROUP_KEY, MEMBER_KEY, ASSIGNMENT_KEY) or key.text() != group:
            continue
        value = None if record["value"] is None else Reader(bytes.fromhex(record["value"]))
        position, time = record["offset"], record["timestamp"]
        if kind in OFFSET_KEYS:
            commits.append(commit_of(position, key, value))
        elif kind == MEMBER_KEY:
            by_brokers.note_member(key.text(), value)
        elif kind == ASSIGNMENT_KEY:
            by_brokers.note_assignment(key.text(), value)
            generations.append(by_brokers.generation(position, time))
        elif value is not None:
            generations.append(generation_of(position, time, value))
    return commits, generations
