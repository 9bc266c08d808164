"""Kafka's frames: the parts of requests and answers that a proxy must know."""
import struct
from typing import NamedTuple

PRODUCE, FETCH, METADATA, FIND_COORDINATOR, HEARTBEAT, INIT_PRODUCER_ID = 0, 1, 3, 10, 12, 22
ADD_PARTITIONS_TO_TXN, ADD_OFFSETS_TO_TXN, END_TXN, TXN_OFFSET_COMMIT, DESCRIBE_CLUSTER = 24, 25, 26, 28, 60
# Answers that tell where brokers are: the last two of them since KIP-951, when a leader has changed.
WITH_ADDRESSES = (METADATA, FIND_COORDINATOR, DESCRIBE_CLUSTER, PRODUCE, FETCH)
HOST = b"127.0.0.1"


class Request(NamedTuple):
    api: int
    version: int
    correlation: int  # its answer begins with the same number
    client: str  # client.id
    frame: bytes  # everything after the length
    connection: int = 0  # the proxy numbers them from 1


def parse_request(frame):
    api, version, correlation, size = struct.unpack_from(">hhih", frame)
    client = frame[10:10 + size].decode() if size > 0 else ""
    return Request(api, version, correlation, client, frame)


def correlation_of(answer):
    return struct.unpack_from(">i", answer)[0]


def with_length(frame):
    return struct.pack(">i", len(frame)) + frame


def rewrite(answer, ports):
    """The answer with other ports in the addresses. In every version a port follows its host, as four bytes; so the length stays,
    and nothing else of the answer need be understood."""
    for place in reversed(list(places_of(answer, HOST))):
        at = place + len(HOST)
        port = ports.get(answer[at:at + 4])
        if port:
            answer = answer[:at] + port + answer[at + 4:]
    return answer


def places_of(data, part):
    at = data.find(part)
    while at >= 0:
        yield at
        at = data.find(part, at + 1)


def port_bytes(port):
    return struct.pack(">i", port)
