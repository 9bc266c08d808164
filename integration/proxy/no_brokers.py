"""A proxy that takes the brokers out of some answers about metadata, as a cluster answers while its only broker is fenced: the topics
are named, and no broker. Everything else passes."""
from cursor import Cursor, varint
from frames import METADATA
from proxy import Proxy

FLEXIBLE = 9  # the first version with varints


def without_brokers(answer):
    """Of a version from 9 on: https://kafka.apache.org/protocol#The_Messages_Metadata"""
    cursor = Cursor(answer)
    cursor.skip(4)  # the correlation id
    cursor.skip_tags()
    cursor.skip(4)  # the throttle time
    head = answer[:cursor.at]
    for _ in range(cursor.varint() - 1):
        cursor.skip(4)  # the number
        cursor.skip(cursor.varint() - 1)  # the host
        cursor.skip(4)  # the port
        cursor.skip(max(cursor.varint() - 1, 0))  # the rack, if there is one
        cursor.skip_tags()
    return head + varint(1) + answer[cursor.at:]


class NoBrokers(Proxy):
    """`fence()` takes the brokers out of the next answer that has topics; `fenced` counts such answers. Call it from any thread."""

    def __init__(self, brokers):
        self.next, self.fenced = False, 0
        super().__init__(brokers)

    def fence(self):
        self.next = True

    def changed_answer(self, request, frame):
        if request.api != METADATA or request.version < FLEXIBLE or not self.next or not self.names_topics(request):
            return frame
        self.next, self.fenced = False, self.fenced + 1
        return without_brokers(frame)

    @staticmethod
    def names_topics(request):
        """Whether the request asks for topics by name: their count, as a varint, is more than 1."""
        cursor = Cursor(request.frame)
        cursor.skip_request_header(flexible=True)
        return cursor.varint() > 1
