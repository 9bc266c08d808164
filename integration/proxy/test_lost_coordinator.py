#!/usr/bin/python3
"""Which answers hide the coordinator, and what is in them."""
import struct
import unittest

import frames
from lost_coordinator import LostCoordinator

FOUND = struct.pack(">iihhih", 7, 0, 0, -1, 1, 9) + b"127.0.0.1" + struct.pack(">i", 9092)
NOT_FOUND = struct.pack(">iihhihi", 7, 0, 15, -1, -1, 0, -1)
ALIVE, GONE = struct.pack(">iih", 7, 0, 0), struct.pack(">iih", 7, 0, 16)


def asked(api, connection):
    return frames.Request(api, 2, 7, "laneway", b"", connection)


class HiddenCoordinators(unittest.TestCase):
    def setUp(self):
        self.proxy = LostCoordinator("127.0.0.1:1")
        self.addCleanup(self.proxy.stop)
        self.proxy.connections = 3

    def test_nothing_is_hidden_at_first(self):
        self.assertEqual(FOUND, self.proxy.changed_answer(asked(frames.FIND_COORDINATOR, 1), FOUND))

    def test_the_coordinator_is_hidden_from_existing_connections(self):
        self.proxy.hide()
        self.assertEqual(NOT_FOUND, self.proxy.changed_answer(asked(frames.FIND_COORDINATOR, 3), FOUND))
        self.assertEqual(GONE, self.proxy.changed_answer(asked(frames.HEARTBEAT, 3), ALIVE))
        self.assertEqual(2, self.proxy.hidden)

    def test_new_connections_and_other_answers_are_unchanged(self):
        self.proxy.hide()
        self.assertEqual(FOUND, self.proxy.changed_answer(asked(frames.FIND_COORDINATOR, 4), FOUND))
        self.assertEqual(FOUND, self.proxy.changed_answer(asked(frames.METADATA, 1), FOUND))

    def test_the_entrance_stays_when_the_broker_moves(self):
        before = self.proxy.bootstrap()
        ports = dict(self.proxy.ports)
        self.proxy.go_down()
        self.proxy.come_back_elsewhere()
        self.assertEqual(before, self.proxy.bootstrap())
        self.assertNotEqual(ports, self.proxy.ports)


if __name__ == "__main__":
    unittest.main()
