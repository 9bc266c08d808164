#!/usr/bin/python3
"""Random stories while brokers are killed, stopped and rolled: broker_stories.py [SEED ...]

The stories of stories.py, one after the other on three brokers of their own. The faults of a story overlap with those that plan.py
makes for brokers and leaders from the same seed.
"""
import sys
from dataclasses import replace

import plan
import stories
from broker_logs import fencings
from cluster import Brokers
from scenario import BROKER_SETTINGS

import drawn
import harness

OUT_OF_PLACE = ("take rights", "corrupt batch", "recreate topic")  # they need a broker that does nothing else meanwhile
FEW = (2, 3)


def draw(seed):
    story = drawn.draw(seed)
    return replace(story, faults=tuple(fault for fault in story.faults if fault.kind not in OUT_OF_PLACE))


class BrokerTrial(stories.Trial):
    """One story."""

    TOPIC_SETTINGS = ("min.insync.replicas=2",)

    def __init__(self, run, story):
        super().__init__(run, story)
        self.brokers = Brokers(run)

    def write(self, partitions, *options):
        super().write(partitions, "--one-in-flight", *options)

    def create_topics(self):
        super().create_topics()
        self.brokers.await_all_in_sync([self.run.topic])

    def begin_faults(self, begun):
        return [*super().begin_faults(begun), *(self.tracks.submit(self.of_brokers, track, begun) for track in ("brokers", "topics"))]

    def of_brokers(self, track, begun):
        """Each step when the one before it has ended, and all brokers are there again."""
        for step in plan.plan(self.story.seed):
            if step.track == track and step.at <= drawn.WINDOW and step.kind != "add partitions":
                self.follow(step, begun, lambda step: self.brokers.act(step, self.run.topic))
                if track == "brokers":
                    self.brokers.await_all_in_sync([self.run.topic, "__consumer_offsets"])

    def gather(self):
        super().gather()
        clients = {member: client for generation in self.facts.generations for member, client in generation.members.items()}
        self.facts.fencings = fencings(self.brokers.logs(), self.run.group, clients)


def scenario(run):
    stories.scenario(run, [int(word) for word in sys.argv[1:]] or FEW, BrokerTrial, draw, at_once=1)


if __name__ == "__main__":
    harness.main("broker-stories", scenario, own_kafka=True, nodes=3, broker=BROKER_SETTINGS)
