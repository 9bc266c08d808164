#!/usr/bin/python3
"""The proxy's frames and rules, against a broker that notes each request and answers with a few bytes."""
import queue
import socket
import struct
import sys
import threading
import unittest
from pathlib import Path

import frames
from proxy import Proxy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "framework"))
from waits import wait_until  # noqa: E402

PATIENCE = 60.0  # s


def request(api, correlation, client="laneway", body=b""):
    return struct.pack(">hhih", api, 0, correlation, len(client)) + client.encode() + body


class Connection:
    def __init__(self, link):
        self.link = link
        self.link.settimeout(PATIENCE)
        self.reader = link.makefile("rb")

    def send(self, frame):
        self.link.sendall(frames.with_length(frame))

    def receive(self):
        """The next frame; None at the end of the connection."""
        try:
            size = self.reader.read(4)
            return self.reader.read(int.from_bytes(size, "big")) if len(size) == 4 else None
        except ConnectionResetError:
            return None

    def close(self):
        self.reader.close()
        self.link.close()


class Broker:
    """`got`: requests in the order of their coming. Each is answered at once, with `answer` behind the correlation id."""

    def __init__(self, answer=b"answer"):
        self.answer, self.got = answer, queue.Queue()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                connection = Connection(self.listener.accept()[0])
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
        except OSError:
            pass  # closed

    def serve(self, connection):
        while (frame := connection.receive()) is not None:
            asked = frames.parse_request(frame)
            self.got.put(asked.correlation)
            connection.send(struct.pack(">i", asked.correlation) + self.answer)
        connection.close()

    def next(self):
        return self.got.get(timeout=PATIENCE)


class Frames(unittest.TestCase):
    def test_a_request_has_its_api_and_client(self):
        found = frames.parse_request(request(frames.PRODUCE, 7, "me", b"body"))
        self.assertEqual((frames.PRODUCE, 0, 7, "me"), found[:4])
        self.assertEqual("", frames.parse_request(struct.pack(">hhih", 3, 9, 1, -1)).client)

    def test_addresses_of_brokers_and_nothing_else_are_rewritten(self):
        ports = {frames.port_bytes(12001): frames.port_bytes(40001), frames.port_bytes(12002): frames.port_bytes(40002)}
        answer = b"\n127.0.0.1" + frames.port_bytes(12002) + b"\n127.0.0.1" + frames.port_bytes(12001) + frames.port_bytes(12001)
        wanted = b"\n127.0.0.1" + frames.port_bytes(40002) + b"\n127.0.0.1" + frames.port_bytes(40001) + frames.port_bytes(12001)
        self.assertEqual(wanted, frames.rewrite(answer, ports))
        other = b"\n127.0.0.1" + frames.port_bytes(9)
        self.assertEqual(other, frames.rewrite(other, ports))


class Rules(unittest.TestCase):
    def setUp(self):
        self.broker = Broker()
        self.proxy = Proxy(f"127.0.0.1:{self.broker.port}")
        self.client = self.connect()

    def tearDown(self):
        self.client.close()
        self.proxy.stop()
        self.broker.listener.close()

    def connect(self):
        host, port = self.proxy.bootstrap().split(":")
        return Connection(socket.create_connection((host, int(port)), PATIENCE))

    def expect_answer(self, correlation, client=None):
        self.assertEqual(correlation, frames.correlation_of((client or self.client).receive()))

    def test_without_rules_everything_passes(self):
        self.client.send(request(frames.PRODUCE, 1))
        self.assertEqual(struct.pack(">i", 1) + b"answer", self.client.receive())

    def test_clients_get_the_ports_of_the_proxy(self):
        self.broker.answer = b"127.0.0.1" + frames.port_bytes(self.broker.port)
        self.client.send(request(frames.METADATA, 1))
        port = int.from_bytes(self.client.receive()[-4:], "big")
        self.assertEqual(self.proxy.bootstrap(), f"127.0.0.1:{port}")

    def test_a_request_that_is_held_is_overtaken(self):
        rule = self.proxy.hold(frames.PRODUCE, times=1)
        for correlation in (1, 2):
            self.client.send(request(frames.PRODUCE, correlation))
        self.assertEqual(2, self.broker.next())
        self.proxy.release(rule)
        self.assertEqual(1, self.broker.next())
        self.assertEqual([1], [caught.correlation for caught in rule.caught])

    def test_requests_behind_a_stalled_request_wait(self):
        rule = self.proxy.stall(frames.PRODUCE, times=1)
        for correlation, api in ((1, frames.PRODUCE), (2, frames.FETCH), (3, frames.PRODUCE)):
            self.client.send(request(api, correlation))
        wait_until("all are caught", lambda: len(rule.caught) == 3)
        other = self.connect()
        other.send(request(frames.PRODUCE, 4))
        self.expect_answer(4, other)
        other.close()
        self.proxy.release(rule)
        self.client.send(request(frames.FETCH, 5))
        self.assertEqual([4, 1, 2, 3, 5], [self.broker.next() for _ in range(5)])

    def test_a_held_request_arrives_after_its_client_has_gone(self):
        rule = self.proxy.hold(frames.END_TXN)
        self.client.send(request(frames.END_TXN, 1))
        self.client.send(request(frames.PRODUCE, 2))
        self.expect_answer(2)
        self.client.close()
        self.client = self.connect()
        self.client.send(request(frames.PRODUCE, 3))
        self.expect_answer(3)
        self.assertEqual([2, 3], [self.broker.next(), self.broker.next()])
        self.proxy.release(rule)
        self.assertEqual(1, self.broker.next())
        wait_until("the answer is known", lambda: rule.answered == [struct.pack(">i", 1) + b"answer"])

    def test_a_delayed_request_comes_by_itself(self):
        self.proxy.delay(0.01, frames.PRODUCE)
        self.client.send(request(frames.PRODUCE, 1))
        self.expect_answer(1)

    def test_an_answer_that_is_dropped_leaves_the_connection(self):
        self.proxy.drop(frames.PRODUCE, answers=True)
        self.client.send(request(frames.PRODUCE, 1))
        self.assertEqual(1, self.broker.next())
        self.client.send(request(frames.FETCH, 2))
        self.expect_answer(2)

    def test_an_answer_that_is_cut_ends_the_connection(self):
        self.proxy.cut(frames.PRODUCE, answers=True, times=1)
        self.client.send(request(frames.PRODUCE, 1))
        self.assertEqual(1, self.broker.next())
        self.assertIsNone(self.client.receive())
        again = self.connect()
        again.send(request(frames.PRODUCE, 2))
        self.expect_answer(2, again)
        again.close()

    def test_a_request_that_is_cut_does_not_reach_the_broker(self):
        self.proxy.cut(frames.PRODUCE, times=1)
        self.client.send(request(frames.PRODUCE, 1))
        self.assertIsNone(self.client.receive())
        self.client.close()
        self.client = self.connect()
        self.client.send(request(frames.PRODUCE, 2))
        self.assertEqual(2, self.broker.next())

    def test_a_rule_applies_only_to_its_client_broker_and_question(self):
        self.proxy.drop(frames.PRODUCE, client="other")
        self.proxy.drop(frames.PRODUCE, broker=2)
        self.proxy.drop(frames.PRODUCE, where=lambda asked: b"poison" in asked.frame)
        self.client.send(request(frames.PRODUCE, 1, body=b"poison"))
        self.client.send(request(frames.PRODUCE, 2))
        self.expect_answer(2)

    def test_a_broker_that_is_down_refuses(self):
        with Proxy("127.0.0.1:1") as proxy:  # nobody listens there
            host, port = proxy.bootstrap().split(":")
            client = Connection(socket.create_connection((host, int(port)), PATIENCE))
            self.assertIsNone(client.receive())
            client.close()


if __name__ == "__main__":
    unittest.main()
