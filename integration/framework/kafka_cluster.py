"""The Kafka of a run, by scripts/kafka and kafka_tool: one of its own, or one that it shares.

LANEWAY_KAFKA_DIR names a running cluster to share; LANEWAY_THREE_KAFKAS_DIR is the same for runs that need three brokers: they
leave the brokers as they were, and have them for themselves meanwhile; LANEWAY_ACCESS_KAFKA_DIR for those that need a Kafka with
every way to log in (scripts/kafka start --access).
"""
import os
import re
import subprocess
import sys
from pathlib import Path

from process import KAFKA_TOOL, ROOT
from waits import expect

COMMAND = ROOT / "scripts" / "kafka"
LONGEST = 240  # s for one call of a program


def shared_folder(nodes, access):
    return os.environ.get("LANEWAY_THREE_KAFKAS_DIR" if nodes == 3 else
                          "LANEWAY_ACCESS_KAFKA_DIR" if access else "LANEWAY_KAFKA_DIR")


class KafkaCluster:
    """`folder` holds it. `options` are those of scripts/kafka start for a new one. A cluster that is not owned is left running."""

    def __init__(self, folder, owned, secured=False, options=()):
        self.folder, self.owned, self.secured, self.options = Path(folder), owned, secured, options
        self.only_plain = self.admin_bootstrap = self.bootstrap = None  # addresses, once it has started

    @classmethod
    def for_run(cls, folder, own, nodes, secured, broker, access):
        """One in `folder`, or the one that the environment names. `broker`: KEY=VALUE, of a Kafka of its own."""
        shared = shared_folder(nodes, access)
        owned = own or not shared
        options = ["--nodes", str(nodes), "--while", str(os.getpid())] if owned else []
        options += ["--secured"] if secured and owned else []
        options += ["--access"] if access and owned else []
        options += [word for setting in broker for word in ("--config", setting)]
        return cls(folder if owned else shared, owned, secured, options)

    def borrowed(self):
        """The same for a caller that leaves the cluster running and uses the listener without a login."""
        return KafkaCluster(self.folder, owned=False)

    def start(self):
        self.only_plain = self.command("start", *self.options).strip()
        self.admin_bootstrap = re.search(r"KAFKA_ADMIN_BOOTSTRAP=(\S+)", self.command("env"))[1]
        # A shared Kafka is secured for those that need it, and has an open door for the others.
        self.bootstrap = self.only_plain if self.secured else self.admin_bootstrap

    def wipe_if_owned(self):
        if self.owned and self.folder.exists():
            self.command("wipe")

    def command(self, *arguments):
        """The output of scripts/kafka."""
        done = subprocess.run([sys.executable, str(COMMAND), "--dir", str(self.folder), *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LONGEST)
        expect(done.returncode == 0, f"scripts/kafka {' '.join(arguments)} failed: {done.stderr}")
        return done.stdout

    def tool_command(self, *arguments):
        return [KAFKA_TOOL, "--bootstrap", self.admin_bootstrap, *map(str, arguments)]

    def tool(self, *arguments, text=""):
        """The lines that kafka_tool prints; it reads `text`."""
        done = subprocess.run(self.tool_command(*arguments), text=True, input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LONGEST)
        expect(done.returncode == 0, f"kafka_tool {' '.join(map(str, arguments))} failed: {done.stderr}")
        return done.stdout.splitlines()
