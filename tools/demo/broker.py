"""The real Kafka of a demo, by scripts/kafka on free ports, and what is in it, by kafka_tool."""
import json
import os
import subprocess
import sys
from pathlib import Path

from ..failure import Failure

ROOT = Path(__file__).resolve().parents[2]
KAFKA_TOOL = ROOT / "build" / "integration" / "kafka_tool" / "kafka_tool"
LONGEST = 240  # s for one call; the first one may download Kafka
# A broker that lives for minutes: the second compiler and a collector with threads of its own cost more than they bring.
BRIEF_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


class Broker:
    """`stage` starts its writers."""

    def __init__(self, stage):
        self.stage, self.folder, self.bootstrap = stage, stage.folder / "kafka", None

    def start(self):
        self.bootstrap = self.command("start", "--heap", "512m", "--while", str(os.getpid())).strip()

    def wipe(self):
        if self.folder.exists():
            self.command("wipe")

    def command(self, *arguments):
        done = subprocess.run([sys.executable, str(ROOT / "scripts" / "kafka"), "--dir", str(self.folder), *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LONGEST, check=False,
                              env={**os.environ, **BRIEF_JAVA}, start_new_session=True)
        if done.returncode != 0:
            raise Failure(f"scripts/kafka {arguments[0]} failed: {done.stderr}")
        return done.stdout

    def tool_command(self, *arguments):
        return [str(KAFKA_TOOL), "--bootstrap", self.bootstrap, *map(str, arguments)]

    def tool(self, *arguments):
        """What kafka_tool prints, a dict for each line."""
        done = subprocess.run(self.tool_command(*arguments), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LONGEST, check=False, start_new_session=True)
        if done.returncode != 0:
            raise Failure(f"kafka_tool {' '.join(map(str, arguments))} failed: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def create(self, topic, partitions, *settings):
        self.tool("create", topic, partitions, *settings)

    def write(self, topic, *options):
        """Starts a process that writes records: the options of `kafka_tool produce`. What is acknowledged goes to a file."""
        number = sum(process.name.startswith("writer") for process in self.stage.processes)
        writer = self.stage.program(f"writer-{number}", self.tool_command("produce", topic, "--acks-file", self.acks(topic), *options))
        writer.may_end = True
        return writer

    def acks(self, topic):
        """The file with what the broker has acknowledged to the producers of this topic: evidence.py reads it."""
        return self.stage.folder / f"{topic}.acknowledged"

    def committed(self, group, *topics):
        """{(topic, partition): offset}, as the broker says now; without those that have none."""
        return {(line["topic"], line["partition"]): line["offset"] for line in self.tool("committed", group, *topics)
                if line["offset"] is not None}

    def ends(self, *topics):
        """{(topic, partition): the offset of the next record}"""
        return {(topic, line["partition"]): line["end"] for topic in topics for line in self.tool("watermarks", topic)}

    def lag(self, group, *topics):
        """How many records the group has not committed."""
        committed = self.committed(group, *topics)
        return sum(end - committed.get(partition, 0) for partition, end in self.ends(*topics).items())

    def members(self, group):
        """{"state": …, "members": […]}"""
        return self.tool("members", group)[0]
