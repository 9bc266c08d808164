"""A proxy that leaves partitions out of what clients fetch, as a client does that takes them for paused: no broker is asked for
them, and nothing is heard of them. Everything else passes."""
import struct

from cursor import Cursor, varint
from frames import FETCH, Request
from proxy import Proxy

FLEXIBLE, TOPIC_IDS, WITHOUT_REPLICA = 12, 13, 15  # versions of a fetch


class Fetch:
    """Versions 4 to 17: https://kafka.apache.org/protocol#The_Messages_Fetch"""

    def __init__(self, request):
        self.version, self.flexible = request.version, request.version >= FLEXIBLE
        self.cursor = Cursor(request.frame)

    def without(self, partitions):
        """The frame without the partitions of these numbers, of whatever topic."""
        cursor = self.cursor
        cursor.skip_request_header(self.flexible)
        cursor.skip((4 if self.version < WITHOUT_REPLICA else 0) + 13 + (8 if self.version >= 7 else 0))
        head = cursor.data[:cursor.at]
        topics = [topic for topic in [self.topic(partitions) for _ in range(self.count())] if topic]
        return head + self.array(topics) + cursor.data[cursor.at:]

    def topic(self, left_out):
        """What is left of the next topic; nothing, if no partition is."""
        cursor, begin = self.cursor, self.cursor.at
        if self.version >= TOPIC_IDS:
            cursor.skip(16)
        else:
            cursor.skip(cursor.varint() - 1 if self.flexible else cursor.number("h"))
        name = cursor.data[begin:cursor.at]
        partitions = [partition for number, partition in [self.partition() for _ in range(self.count())] if number not in left_out]
        begin = cursor.at
        self.skip_tags()
        return name + self.array(partitions) + cursor.data[begin:cursor.at] if partitions else b""

    def partition(self):
        cursor, begin = self.cursor, self.cursor.at
        number = cursor.number("i")
        cursor.skip((4 if self.version >= 9 else 0) + 8 + (4 if self.flexible else 0) + (8 if self.version >= 5 else 0) + 4)
        self.skip_tags()
        return number, cursor.data[begin:cursor.at]

    def count(self):
        return self.cursor.varint() - 1 if self.flexible else self.cursor.number("i")

    def array(self, items):
        return (varint(len(items) + 1) if self.flexible else struct.pack(">i", len(items))) + b"".join(items)

    def skip_tags(self):
        if self.flexible:
            self.cursor.skip_tags()


class SilentFetches(Proxy):
    """`silent`: the numbers of the partitions that are left out from now on; set it from any thread. `left_out` counts requests."""

    def __init__(self, brokers):
        self.silent, self.left_out = frozenset(), 0
        super().__init__(brokers)

    def changed(self, request: Request):
        if request.api != FETCH or not self.silent:
            return request
        frame = Fetch(request).without(self.silent)
        self.left_out += frame != request.frame
        return request._replace(frame=frame)
