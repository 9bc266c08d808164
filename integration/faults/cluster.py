"""Faults of the three brokers. One thread at a time for the brokers, and one for the leaders; every wait has a deadline."""
import contextlib
import os
import re
import signal
import time

import wire
from waits import wait_until

PATIENCE = 60.0  # s for a broker to come back


class Brokers:
    def __init__(self, run):
        self.run = run
        self.addresses = run.admin_bootstrap.split(",")

    def ask(self, question, *arguments):
        """The answer of the first broker that gives one."""
        for address in self.addresses:
            try:
                return question(address, *arguments)
            except OSError:
                continue
        return None

    def kill(self, node, lasts):
        self.run.kafka("stop", "--kill", "--node", str(node))
        time.sleep(lasts)
        self.run.kafka("start", "--node", str(node))

    def roll(self, node, _):
        """An orderly stop, and a start."""
        self.run.kafka("stop", "--node", str(node))
        self.run.kafka("start", "--node", str(node))

    def stop(self, node, lasts):
        """Stops a broker by SIGSTOP, for longer than the controller waits for heartbeats: others take over its partitions."""
        pid = int(re.search(rf"node {node} .* pid (\d+)", self.run.kafka("status"))[1])
        os.kill(pid, signal.SIGSTOP)
        time.sleep(4 + lasts)
        os.kill(pid, signal.SIGCONT)

    def act(self, step, topic):
        """Carries out a step of plan.py that concerns brokers, or the leaders of the topic; returns what it was about."""
        if step.kind == "move leaders":
            self.move_leaders(topic, step.choice)
            return ""
        node = self.coordinator() if step.kind == "kill coordinator" else step.choice % 3 + 1
        how = {"stop broker": self.stop, "roll broker": self.roll}.get(step.kind, self.kill)
        how(node, step.lasts)
        return f"node {node}"

    def logs(self):
        """The text of each broker's log."""
        return [log.read_text(errors="replace") for log in sorted(self.run.kafka_dir.glob("node-*/server.log"))]

    def coordinator(self):
        return wait_until("the group has a coordinator", lambda: self.ask(wire.coordinator_of, self.run.group), PATIENCE)

    def await_all_in_sync(self, topics):
        """Waits until each partition has three replicas in sync and its preferred leader, or any leader."""
        def in_sync():
            places = self.ask(wire.partitions_of, topics)
            return places and all(len(place.in_sync) == len(place.replicas) and place.leader > 0 for place in places.values())
        wait_until("all replicas are in sync", in_sync, PATIENCE, every=0.3)

    def move_leaders(self, topic, choice):
        """Each partition of the topic, and each of __consumer_offsets, gets another leader. Best effort: brokers may be out."""
        places = self.ask(wire.partitions_of, [topic, "__consumer_offsets"]) or {}
        for partition, place in places.items():
            others = [replica for replica in place.replicas if replica != place.leader]
            first = others[choice % len(others)]
            self.ask(wire.prefer, partition, [first, *(replica for replica in place.replicas if replica != first)])
        self.ask(wire.elect_preferred, list(places))

    def add_partitions(self, topic, total):
        """Waits until every broker that answers knows the leaders of all partitions."""
        def known():
            if not self.ask(wire.add_partitions, topic, total):
                return False
            for address in self.addresses:
                with contextlib.suppress(OSError):
                    places = wire.partitions_of(address, [topic])
                    if len(places) < total or any(place.leader <= 0 for place in places.values()):
                        return False
            return True
        wait_until(f"{topic} has {total} partitions", known, PATIENCE, every=0.3)
