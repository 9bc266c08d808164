"""From a seed to faults that overlap. Pure: the same seed gives the same plan.

There are four tracks, each with one fault after the other; those of different tracks overlap. At most one broker is out at a
time, so that two of three replicas are in sync and nothing that was acknowledged can be lost by Kafka itself.
"""
import random
from typing import NamedTuple

WINDOW = 26.0  # s in which faults begin
PARTITIONS, MEMBERS = 6, 3
SESSION = 6.0  # s, of each member
TRACKS = ("brokers", "members", "downstream", "topics", "retention")
BROKERS = ("kill broker", "stop broker", "roll broker", "kill coordinator")
OF_MEMBERS = ("kill member", "stop member", "terminate member", "join")
DOWNSTREAM = ("503", "hang", "refuse")


class Step(NamedTuple):
    at: float  # s since the faults began; later where the one before it on its track has not ended
    track: str
    kind: str
    lasts: float  # s; what it means depends on the kind
    choice: int  # of a broker, a member, an order of replicas


def steps(dice, track, kinds, first, between, lasts):
    at = dice.uniform(*first)
    while at < WINDOW:
        yield Step(round(at, 1), track, dice.choice(kinds), round(dice.uniform(*lasts), 1), dice.randrange(1000))
        at += dice.uniform(*between)


def plan(seed):
    """The steps in the order of their time."""
    dice = random.Random(seed)
    found = [*steps(dice, "brokers", BROKERS, (1, 6), (14, 20), (1, 7)),
             *steps(dice, "members", OF_MEMBERS, (0, 5), (4, 9), (0.5, 4)),
             *steps(dice, "downstream", DOWNSTREAM, (2, 8), (8, 13), (1, 5)),
             *steps(dice, "topics", ("move leaders",), (3, 10), (7, 12), (0, 0)),
             Step(round(dice.uniform(5, 20), 1), "topics", "add partitions", 0, dice.randrange(1, 3)),
             *steps(dice, "retention", ("retention",), (5, 9), (4, 8), (0, 0))]
    return sorted(found)


def strategy(seed):
    return "cooperative-sticky" if seed % 2 else "range"
