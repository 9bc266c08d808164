"""The commands of the pages that the Debian package has, with its program and its files, as a user of the package runs them.

The package is made from this build and unpacked; scripts/test-package installs it. Kafka is the client library's embedded cluster.
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path

from alone import Alone
from places import LONGEST, Package
from story import Story

sys.path.append(str(Path(__file__).resolve().parents[2]))
from tools.ports import free_port  # noqa: E402


class BlocksAlone(Alone, unittest.TestCase):
    place = Package


class GettingStarted(Story, unittest.TestCase):
    place = Package

    def setUp(self):
        super().setUp()
        kafka = subprocess.Popen([os.environ["EMBEDDED_KAFKA"], "orders", "orders-dlt"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (kafka.stdin.close(), kafka.wait(LONGEST), kafka.stdout.close()))
        self.use_other_addresses(kafka.stdout.readline().strip(), f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}")


if __name__ == "__main__":
    unittest.main()
