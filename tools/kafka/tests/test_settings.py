"""The settings of a broker, by the kind of its cluster."""
import unittest
from pathlib import Path

from tools.kafka import settings

FOLDER = Path("/cluster/node-1")
ONE = {"ports": [12001], "controller_ports": [12002], "internal_ports": []}
THREE = {"ports": [12001, 12002, 12003], "controller_ports": [12004, 12005, 12006], "internal_ports": []}
SECURED = {"ports": [12001], "controller_ports": [12002], "internal_ports": [12003]}


class Plain(unittest.TestCase):
    def test_one_node_holds_everything_alone(self):
        found = settings.broker_settings(ONE, 1, FOLDER)
        self.assertEqual("PLAINTEXT://127.0.0.1:12001,CONTROLLER://127.0.0.1:12002", found["listeners"])
        self.assertEqual("1@127.0.0.1:12002", found["controller.quorum.voters"])
        self.assertEqual((1, 1), (found["default.replication.factor"], found["min.insync.replicas"]))
        self.assertEqual(FOLDER / "data", found["log.dirs"])

    def test_three_nodes_hold_three_copies_and_one_may_be_out(self):
        found = settings.broker_settings(THREE, 2, FOLDER)
        self.assertEqual(2, found["node.id"])
        self.assertEqual("PLAINTEXT://127.0.0.1:12002,CONTROLLER://127.0.0.1:12005", found["listeners"])
        self.assertEqual("1@127.0.0.1:12004,2@127.0.0.1:12005,3@127.0.0.1:12006", found["controller.quorum.voters"])
        self.assertEqual((3, 2), (found["default.replication.factor"], found["min.insync.replicas"]))

    def test_no_client_needs_a_password(self):
        found = settings.broker_settings(ONE, 1, FOLDER)
        self.assertFalse([key for key in found if "sasl" in key or "acl" in key])
        self.assertEqual([12001], settings.open_ports(ONE))


class Secured(unittest.TestCase):
    def test_clients_are_asked_and_brokers_are_not(self):
        found = settings.broker_settings(SECURED, 1, FOLDER)
        self.assertEqual("SASL_PLAINTEXT://127.0.0.1:12001,INTERNAL://127.0.0.1:12003,CONTROLLER://127.0.0.1:12002",
                         found["listeners"])
        self.assertEqual("INTERNAL", found["inter.broker.listener.name"])
        self.assertEqual([12003], settings.open_ports(SECURED))

    def test_each_user_has_a_password_and_others_have_no_rights(self):
        found = settings.broker_settings(SECURED, 1, FOLDER)
        for user, password in settings.USERS.items():
            self.assertIn(f'user_{user}="{password}"', found["listener.name.sasl_plaintext.plain.sasl.jaas.config"])
        self.assertEqual("false", found["allow.everyone.if.no.acl.found"])

    def test_the_rest_is_as_without(self):
        plain = settings.plain(SECURED, 1, FOLDER)
        found = settings.broker_settings(SECURED, 1, FOLDER)
        self.assertEqual({"listeners"}, {key for key in plain if plain[key] != found[key]})


class Text(unittest.TestCase):
    def test_a_line_for_each_setting(self):
        self.assertEqual("node.id=1\nlog.dirs=/data\n", settings.properties({"node.id": 1, "log.dirs": Path("/data")}))

    def test_addresses_are_a_list_as_clients_take_it(self):
        self.assertEqual("127.0.0.1:1,127.0.0.1:2", settings.addresses([1, 2]))
