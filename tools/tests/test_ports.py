"""Which ports tools.ports gives: free ones, outside the ephemeral range, each once."""
import socket
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools import ports


class FreePort(unittest.TestCase):
    def test_a_free_port_is_outside_the_ranges_of_clusters_and_connections(self):
        ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        for _ in range(50):
            port = ports.free_port()
            self.assertIn(port, range(*ports.OF_SERVERS))
            self.assertLess(port, ephemeral)

    def test_a_port_with_a_listener_is_not_given(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.assertFalse(ports.is_free(port))
        with mock.patch("tools.ports.is_free", side_effect=[False, False, True]) as asked:
            ports.free_port()
        self.assertEqual(3, asked.call_count)


class Claims(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        there = mock.patch("tempfile.gettempdir", return_value=folder.name)
        there.start()
        self.addCleanup(there.stop)

    def cluster(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def claim(self, folder, *offered):
        """One port, when the system offers these by chance."""
        with mock.patch("random.randrange", side_effect=offered), mock.patch("tools.ports.is_free", return_value=True):
            return ports.claim_ports(1, folder)

    def test_no_two_clusters_get_the_same_port(self):
        self.assertEqual([12001], self.claim(self.cluster("one"), 12001))
        self.assertEqual([12002], self.claim(self.cluster("two"), 12001, 12002))

    def test_a_claim_ends_with_the_clusters_folder(self):
        folder = self.cluster("one")
        self.claim(folder, 12001)
        folder.rmdir()
        self.assertEqual([12001], self.claim(self.cluster("two"), 12001))

    def test_the_first_port_is_the_wanted_one_unless_another_cluster_uses_it(self):
        with mock.patch("tools.ports.is_free", return_value=True):
            found = ports.claim_ports(2, self.cluster("one"), first=9092)
            self.assertEqual(9092, found[0])
            self.assertEqual(2, len(found))
            self.assertNotIn(9092, ports.claim_ports(2, self.cluster("two"), first=9092))

    def test_the_first_port_is_another_one_if_the_wanted_port_has_a_listener(self):
        with mock.patch("tools.ports.is_free", side_effect=lambda port: port != 9092):
            found = ports.claim_ports(1, self.cluster("one"), first=9092)
        self.assertIn(found[0], range(*ports.OF_CLUSTERS))

    def test_as_many_as_are_asked_for(self):
        found = ports.claim_ports(6, self.cluster("one"))
        self.assertEqual(6, len(set(found)))
        self.assertTrue(all(port in range(*ports.OF_CLUSTERS) for port in found))
