"""Whether a node runs, and whether its broker answers."""
import os
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from tools.failure import Failure
from tools.kafka.node import Node, answers


class Broker:
    """Answers one Metadata request with a cluster of so many brokers."""

    def __init__(self, brokers):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.answer, args=(brokers,), daemon=True).start()

    def answer(self, brokers):
        with self.server, self.server.accept()[0] as connection, connection.makefile("rb") as reader:
            (size,) = struct.unpack(">i", reader.read(4))
            request = reader.read(size)
            connection.sendall(struct.pack(">i", 8) + request[4:8] + struct.pack(">i", brokers))


class Answers(unittest.TestCase):
    def test_a_broker_that_knows_all_nodes_answers(self):
        self.assertTrue(answers(Broker(3).port, 3))

    def test_a_broker_that_knows_fewer_does_not(self):
        self.assertFalse(answers(Broker(1).port, 3))

    def test_a_port_without_a_listener_does_not_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        self.assertFalse(answers(port, 1))

    def test_a_connection_without_an_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.assertFalse(answers(silent.getsockname()[1], 1, timeout=0.1))


class Process(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        state = {"ports": [1], "controller_ports": [2], "internal_ports": [], "config": {"num.io.threads": "9"}}
        self.node = Node(state, Path(folder.name), 1, access=None)
        self.node.configure()

    def run_instead(self):
        """A process that has the node's file on its command line, as its Kafka has."""
        process = subprocess.Popen(["tail", "-f", "/dev/null", str(self.node.properties)], stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.node.pid_file.write_text(str(process.pid))
        while self.node.pid() is None and process.poll() is None:
            time.sleep(0.01)
        return process

    def test_the_creators_settings_are_laid_over_the_usual_ones(self):
        self.assertIn("num.io.threads=9\n", self.node.properties.read_text())

    def test_a_node_without_a_process_does_not_run(self):
        self.assertIsNone(self.node.pid())
        self.node.stop(kill=False, deadline=time.monotonic())

    def test_a_process_id_that_another_process_has_now_is_not_the_node(self):
        self.node.pid_file.write_text(str(os.getpid()))
        self.assertIsNone(self.node.pid())

    def test_a_stop_returns_when_the_process_has_gone(self):
        for kill in (False, True):
            with self.subTest(kill=kill):
                self.assertEqual(self.run_instead().pid, self.node.pid())
                self.node.stop(kill, time.monotonic() + 60)
                self.assertIsNone(self.node.pid())
                self.assertFalse(self.node.pid_file.exists())

    def test_a_node_that_has_ended_is_reported_with_its_log(self):
        (self.node.folder / "server.log").write_text("the disk is full")
        with self.assertRaisesRegex(Failure, "(?s)Kafka node 1 ended.*the disk is full"):
            self.node.wait_until_it_answers(time.monotonic() + 60)
