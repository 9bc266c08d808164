"""The requests to Kafka that the client library has no functions for: leaders and replicas in sync, a group's coordinator, a
member's leave, and a move of leaders. Raw protocol over one connection for each request; each answers within a deadline or raises
OSError."""
import socket
import struct
from typing import NamedTuple

from offsets_topic import Reader

DEADLINE = 3.0  # s, of each step of a request
METADATA, COORDINATOR, LEAVE_GROUP, CREATE_PARTITIONS, ELECT_LEADERS, ALTER_CONFIGS, REASSIGN = 3, 10, 13, 37, 43, 44, 45
CLIENT_QUOTAS = 49
GROUP_HEARTBEAT, LEAVES = 68, -1  # of group.protocol: consumer, and the epoch of a member that leaves
GROUP, SET = 32, 0  # a kind of resource, a change of its settings


class Place(NamedTuple):
    leader: int
    replicas: list
    in_sync: list


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def array(items):
    return struct.pack(">i", len(items)) + b"".join(items)


def compact(items):
    return bytes([len(items) + 1]) + b"".join(items)  # of fewer than 127


def number(value):
    return struct.pack(">i", value)


def ask(address, api, body, version=0, flexible=False):
    """The answer of the broker at `address` ("host:port") to a request, from after its header."""
    host, port = address.rsplit(":", 1)
    request = struct.pack(">hhi", api, version, 1) + text("faults") + (b"\0" if flexible else b"") + body
    with socket.create_connection((host, int(port)), DEADLINE) as connection:
        connection.settimeout(DEADLINE)
        connection.sendall(number(len(request)) + request)
        with connection.makefile("rb") as stream:
            size = stream.read(4)
            answer = stream.read(struct.unpack(">i", size)[0]) if len(size) == 4 else b""
    if len(answer) < 4:
        raise OSError(f"{address} closed the connection")
    return Reader(answer[5 if flexible else 4:])


def numbers(reader):
    return [reader.take("i") for _ in range(reader.take("i"))]


def partitions_of(address, topics):
    """{(topic, partition): Place}; of all topics where `topics` is None. Version 0 would leave out the replicas that are away."""
    names = number(-1) if topics is None else array([text(topic) for topic in topics])
    reader = ask(address, METADATA, names, version=1)
    for _ in range(reader.take("i")):
        reader.take("i"), reader.text(), reader.take("i"), reader.text()
    reader.take("i")  # the controller
    found = {}
    for _ in range(reader.take("i")):
        reader.take("h")
        topic = reader.text()
        reader.take("b")
        for _ in range(reader.take("i")):
            _, partition, leader = reader.take("h"), reader.take("i"), reader.take("i")
            found[topic, partition] = Place(leader, numbers(reader), numbers(reader))
    return found


def coordinator_of(address, group):
    """The broker's number; None when there is none at this moment."""
    reader = ask(address, COORDINATOR, text(group))
    return reader.take("i") if reader.take("h") == 0 else None


def leave(address, group, member):
    """The member leaves its group, of which it hears by its next heartbeat. The broker is the group's coordinator."""
    code = ask(address, LEAVE_GROUP, text(group) + text(member)).take("h")
    if code != 0:
        raise OSError(f"{member} could not leave the group {group}: error {code}")


def leave_consumers(address, group, member):
    """The same for a member with group.protocol: consumer."""
    names = b"".join(bytes([len(name) + 1]) + name.encode() for name in (group, member))  # of fewer than 127
    nothing = b"\0\0" + number(-1) + b"\0\0\0"  # no instance, no rack, no time-out, no subscription, assignor and partitions
    reader = ask(address, GROUP_HEARTBEAT, names + number(LEAVES) + nothing + b"\0", flexible=True)
    reader.take("i")
    code = reader.take("h")
    if code != 0:
        raise OSError(f"{member} could not leave the group {group}: error {code}")


def configure_group(address, group, **settings):
    """Settings of a group that brokers keep, such as consumer_session_timeout_ms."""
    changes = [text(key.replace("_", ".")) + struct.pack(">b", SET) + text(str(value)) for key, value in settings.items()]
    reader = ask(address, ALTER_CONFIGS, array([struct.pack(">b", GROUP) + text(group) + array(changes)]) + b"\0")
    reader.take("i"), reader.take("i")
    code = reader.take("h")
    if code != 0:
        raise OSError(f"the settings of the group {group} were refused with error {code}")


def limit_client(address, client, bytes_per_second):
    """How much the clients of this client.id may fetch; None: as much as they want."""
    value = struct.pack(">d?", bytes_per_second or 0, bytes_per_second is None)
    entry = array([text("client-id") + text(client)]) + array([text("consumer_byte_rate") + value])
    reader = ask(address, CLIENT_QUOTAS, array([entry]) + b"\0")
    reader.take("i"), reader.take("i")
    code = reader.take("h")
    if code != 0:
        raise OSError(f"the quota of {client} was refused with error {code}")


def prefer(address, partition, replicas):
    """Gives a partition this order of its replicas: the first one is to lead."""
    topic, index = partition
    wanted = compact([number(replica) for replica in replicas])
    name = bytes([len(topic) + 1]) + topic.encode()
    topics = compact([name + compact([number(index) + wanted + b"\0"]) + b"\0"])
    reader = ask(address, REASSIGN, number(5000) + topics + b"\0", flexible=True)
    reader.take("i")
    code = reader.take("h")
    if code != 0:
        raise OSError(f"the order of the replicas of {topic}-{index} was refused with error {code}")


def elect_preferred(address, partitions):
    ask(address, ELECT_LEADERS, array([text(topic) + array([number(index)]) for topic, index in partitions]) + number(5000))


def add_partitions(address, topic, total):
    """True when the topic has so many partitions, also where it had them already."""
    wanted = array([text(topic) + number(total) + number(-1)])
    reader = ask(address, CREATE_PARTITIONS, wanted + number(5000) + b"\0")
    reader.take("i"), reader.take("i"), reader.text()
    return reader.take("h") in (0, 37)  # 37: INVALID_PARTITIONS, when an answer to an earlier request was lost
