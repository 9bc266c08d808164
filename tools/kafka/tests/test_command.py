"""The command line: what each verb does to a cluster, what it prints, and how it ends."""
import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools.kafka import command

STATE = {"ports": [12001, 12002, 12003], "controller_ports": [12004, 12005, 12006], "internal_ports": [12007, 12008, 12009]}


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "kafka"
        self.folder.mkdir()
        (self.folder / "cluster.json").write_text(json.dumps(STATE))

    def run_command(self, *arguments):
        """Exit code, output, errors."""
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                code = command.main(["--dir", str(self.folder), *arguments])
            except SystemExit as end:
                code = end.code
        return code, output.getvalue(), errors.getvalue()

    def test_env_has_both_addresses(self):
        self.assertEqual((0, "export KAFKA_BOOTSTRAP=127.0.0.1:12001,127.0.0.1:12002,127.0.0.1:12003 "
                             "KAFKA_ADMIN_BOOTSTRAP=127.0.0.1:12007,127.0.0.1:12008,127.0.0.1:12009\n", ""),
                         self.run_command("env"))

    def test_status_has_a_line_for_each_node(self):
        code, output, _ = self.run_command("status")
        self.assertEqual((0, ["node 1 127.0.0.1:12001 stopped", "node 2 127.0.0.1:12002 stopped",
                              "node 3 127.0.0.1:12003 stopped"]), (code, output.splitlines()))

    def test_without_a_cluster_the_command_names_the_way_to_start_one(self):
        (self.folder / "cluster.json").unlink()
        code, _, errors = self.run_command("status")
        self.assertEqual((69, f"scripts/kafka: there is no cluster in {self.folder}; run: scripts/kafka --dir {self.folder} start\n"),
                         (code, errors))

    def test_a_node_that_the_cluster_does_not_have(self):
        code, _, errors = self.run_command("stop", "--node", "4")
        self.assertEqual((69, "scripts/kafka: there is no node 4; the cluster has 3\n"), (code, errors))

    def test_unknown_arguments_are_misuse(self):
        for arguments in (["begin"], ["start", "--nodes", "2"], []):
            with self.subTest(arguments=arguments):
                self.assertEqual(2, self.run_command(*arguments)[0])

    def test_wipe_takes_the_folder_and_may_be_repeated(self):
        self.assertEqual((0, "", ""), self.run_command("wipe"))
        self.assertFalse(self.folder.exists())
        self.assertEqual((0, "", ""), self.run_command("wipe"))

    def test_a_new_cluster_follows_the_options(self):
        (self.folder / "cluster.json").unlink()
        with mock.patch.object(command.Cluster, "create", autospec=True) as create, \
                mock.patch.object(command.Cluster, "start"), mock.patch.object(command.Cluster, "bootstrap", return_value="there"):
            self.assertEqual((0, "there\n", ""), self.run_command("start", "--nodes", "3", "--access", "--config", "a.b=c=d"))
        self.assertEqual(mock.call(mock.ANY, 3, "1g", {"a.b": "c=d"}, True, True, None), create.call_args)

    def start_in_the_usual_folder(self, port):
        """A new cluster of the default folder, whose first node has this port."""
        (self.folder / "cluster.json").unlink()

        def create(cluster, *_):
            cluster.state = {**STATE, "ports": [port]}
        with mock.patch.object(command, "USUAL_DIR", self.folder), \
                mock.patch.object(command.Cluster, "create", autospec=True, side_effect=create) as created, \
                mock.patch.object(command.Cluster, "start"):
            return *self.run_command("start"), created.call_args.args[-1]

    def test_the_cluster_of_the_default_folder_takes_the_usual_port(self):
        self.assertEqual((0, "127.0.0.1:9092\n", "", 9092), self.start_in_the_usual_folder(9092))

    def test_when_the_usual_port_is_in_use_start_names_the_remedy(self):
        code, output, errors, _ = self.start_in_the_usual_folder(12001)
        self.assertEqual((0, "127.0.0.1:12001\n"), (code, output))
        self.assertIn("port 9092 was taken", errors)
        self.assertIn("--set kafka.bootstrap.servers=127.0.0.1:12001\n", errors)

    def test_start_leaves_an_existing_cluster_unchanged(self):
        with mock.patch.object(command.Cluster, "create") as create, mock.patch.object(command.Cluster, "start") as start:
            self.run_command("start", "--node", "2")
        create.assert_not_called()
        start.assert_called_once_with(2)

    def test_restart_stops_and_starts_the_same_nodes(self):
        with mock.patch.object(command.Cluster, "stop") as stop, mock.patch.object(command.Cluster, "start") as start:
            self.run_command("restart", "--kill", "--node", "2")
        stop.assert_called_once_with(True, 2)
        start.assert_called_once_with(2)
