"""docs/getting-started.md with a real Kafka, at the addresses that the page names, from a checkout.

The page is run in a network of its own. Where the machine allows none, the machine's ports are used if they are free, and other
addresses otherwise: those that `scripts/kafka start` prints, and free ports.
"""
import subprocess
import sys
import unittest
from pathlib import Path

import own_network
from places import LONGEST, Checkout
from story import Story

sys.path.append(str(Path(__file__).resolve().parents[2]))
from tools.ports import free_port, is_free  # noqa: E402


class GettingStarted(Story, unittest.TestCase):
    place, real_kafka = Checkout, True
    in_own_network = False

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: subprocess.run([self.folder / "scripts/kafka", "wipe"], env=self.environment, timeout=LONGEST,
                                               check=True))
        if not self.in_own_network and not all(map(is_free, (9092, 9644, 8080))):
            start = subprocess.run([self.folder / "scripts/kafka", "start"], env=self.environment, stdout=subprocess.PIPE, text=True,
                                   timeout=2 * LONGEST, check=True)
            self.use_other_addresses(start.stdout.strip(), f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}")

    def page_block(self, name, language, block):
        said = super().page_block(name, language, block)
        if "scripts/kafka start" in block:
            self.assertEqual(self.bootstrap, said.splitlines()[-1])
        return said


if __name__ == "__main__":
    GettingStarted.in_own_network = own_network.enter()
    unittest.main()
