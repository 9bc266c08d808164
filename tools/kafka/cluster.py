"""A cluster in a folder: its description (cluster.json), and its nodes, all or one of them."""
import json
import os
import random
import shutil
import signal
import string
import subprocess
import time

from ..failure import Failure
from ..ports import claim_ports
from .jars import wanted_version
from .node import START_DEADLINE, Node
from .settings import LOG4J, USERS, addresses, open_ports

STOP_DEADLINE = 30.0


class Cluster:
    def __init__(self, folder):
        self.folder = folder.resolve()
        self.file = self.folder / "cluster.json"
        self.state = json.loads(self.file.read_text()) if self.file.exists() else None

    def access(self):
        """The ways to log in, where it was created with them."""
        if not self.state.get("access"):
            return None
        from .access import Access  # takes a package that only those need who ask for it
        return Access(self.folder)

    def create(self, nodes, heap, config, secured, access, port=None):
        """`port` is the first node's, if the port is free."""
        ports = claim_ports((3 if secured else 2) * nodes, self.folder, first=port)
        identity = "".join(random.choices(string.ascii_letters + string.digits, k=22))
        self.state = {"id": identity, "ports": ports[:nodes], "controller_ports": ports[nodes:2 * nodes],
                      "internal_ports": ports[2 * nodes:], "heap": heap, "config": config, "access": access,
                      "version": wanted_version()}
        if access:
            ways = self.access()
            ways.create(claim_ports(ways.PORTS, self.folder), USERS["worker"])
        (self.folder / "log4j2.properties").write_text(LOG4J)
        for node in self.nodes():
            node.configure()
        for process in [node.format() for node in self.nodes()]:
            output, _ = process.communicate(timeout=START_DEADLINE)
            if process.returncode != 0:
                raise Failure(f"Kafka's storage could not be formatted:\n{output[-3000:]}")
        self.file.write_text(json.dumps(self.state))

    def nodes(self, only=None):
        if self.state is None:
            raise Failure(f"there is no cluster in {self.folder}; run: scripts/kafka --dir {self.folder} start")
        numbers = range(1, len(self.state["ports"]) + 1)
        if only is not None and only not in numbers:
            raise Failure(f"there is no node {only}; the cluster has {len(numbers)}")
        return [Node(self.state, self.folder, number, self.access()) for number in numbers if only in (None, number)]

    def bootstrap(self):
        return addresses(self.state["ports"])

    def admin_bootstrap(self):
        return addresses(open_ports(self.state))

    def start(self, only=None):
        if self.access():
            self.access().start()
        for node in self.nodes(only):
            node.launch()
        deadline = time.monotonic() + START_DEADLINE
        for node in self.nodes(only):
            node.wait_until_it_answers(deadline)

    def set_password(self, user, password):
        command = self.nodes()[0].java(
            "kafka.admin.ConfigCommand", "--bootstrap-server", self.admin_bootstrap(), "--alter", "--entity-type", "users",
            "--entity-name", user, "--add-config", f"SCRAM-SHA-512=[password={password}]")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=START_DEADLINE)
        if done.returncode != 0:
            raise Failure(f"the password of {user} could not be set:\n{done.stdout[-3000:]}")

    def stop(self, kill, only=None):
        nodes = self.nodes(only)
        if not kill:  # all at once: the last ones would wait in vain for a majority
            for node in nodes:
                if node.pid():
                    os.kill(node.pid(), signal.SIGTERM)
        deadline = time.monotonic() + STOP_DEADLINE
        for node in nodes:
            node.stop(kill, deadline)
        if self.access() and only is None:
            self.access().stop()

    def wipe(self):
        if self.state:
            self.stop(kill=True)
        shutil.rmtree(self.folder, ignore_errors=True)
