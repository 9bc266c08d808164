"""What flowed through a service over time, and what that says about isolation: rates in windows, stalls, repeats with their causes,
lags and memory. Pure: from times (ns since 1970) and counts; nothing here asks a service or a Kafka.
"""
from bisect import bisect_left
from collections import defaultdict
from typing import NamedTuple

SECOND = 1_000_000_000
WINDOW = 10 * SECOND


class Act(NamedTuple):
    """Something that was done to the service."""

    name: str
    begin: int
    end: int  # when the service worked in full again
    down: bool = False  # nobody was there meanwhile


def rates(times, begin, end, window=WINDOW):
    """How many of these sorted times are in each whole window."""
    edges = [bisect_left(times, edge) for edge in range(begin, end + 1, window)]
    return [after - before for before, after in zip(edges, edges[1:])]


def first_times(deliveries):
    """{id: time} of the first of each, from (id, time) pairs."""
    first = {}
    for identity, time in deliveries:
        first[identity] = min(time, first.get(identity, time))
    return first


class Flow:
    """One downstream. `offered`: {id: time} of what it should get; `deliveries`: (id, time) of what it got, also again."""

    def __init__(self, name, offered, deliveries):
        self.name, self.offered = name, offered
        self.deliveries = sorted(deliveries, key=lambda delivery: delivery[1])
        self.first = first_times(self.deliveries)
        self.missing = set(offered) - set(self.first)
        self.strange = set(self.first) - set(offered)

    def ratio(self, begin, end):
        """Delivered / offered in this time."""
        return len(in_time(self.first, begin, end)) / max(1, len(in_time(self.offered, begin, end)))

    def windows(self, begin, end):
        """[(begin of the window, delivered / offered)]"""
        got, came = (rates(sorted(times.values()), begin, end) for times in (self.first, self.offered))
        return [(begin + place * WINDOW, delivered / max(1, offered)) for place, (delivered, offered) in enumerate(zip(got, came))]

    def longest_gap(self, begin, end, acts):
        """Seconds between two deliveries, without those while nobody was there."""
        times = [begin, *(time for time in sorted(self.first.values()) if begin <= time <= end), end]
        gaps = [(after - before) / SECOND for before, after in zip(times, times[1:]) if not touched(before, after, acts)]
        return max(gaps, default=0.0)

    def repeats(self):
        """[(id, time, time of the first)] of the deliveries that were not the first of their id."""
        return [(identity, time, self.first[identity]) for identity, time in self.deliveries if time > self.first[identity]]


def in_time(times, begin, end):
    return {identity for identity, time in times.items() if begin <= time < end}


def touched(begin, end, acts):
    """Whether nobody was there in a part of this time."""
    return any(act.down and act.begin < end and begin < act.end for act in acts)


def stalls(flow, begin, end, acts, least):
    """The windows with less than this part of the offered rate, without those in which nobody was there."""
    return [(at, ratio) for at, ratio in flow.windows(begin, end) if ratio < least and not touched(at, at + WINDOW, acts)]


def by_act(flows, acts):
    """{name of the last act before: [(name of the flow, id, time, time of the first)]} of all repeats; "no act" for those before."""
    found = defaultdict(list)
    for flow in flows:
        for identity, time, first in flow.repeats():
            before = [act for act in acts if act.begin <= time]
            found[before[-1].name if before else "no act"].append((flow.name, identity, time, first))
    return found


def behind(samples):
    """[(time, seconds)]: how long ago the log ended where the commits are, at most, as far as the samples can say.

    `samples`: [(time, {place: end}, {place: committed})], in the order of time.
    """
    found = []
    for place, (time, _, committed) in enumerate(samples):
        reached = samples[0][0]
        for earlier, ends, _ in reversed(samples[:place + 1]):
            if all(committed.get(partition, 0) >= end for partition, end in ends.items()):
                reached = earlier
                break
        found.append((time, (time - reached) / SECOND))
    return found


def overtaken(order, delivered):
    """Seconds by which a later one of this order was delivered before an earlier one, at most."""
    most, earliest = 0.0, None
    for identity in reversed(order):
        if identity in delivered:
            earliest = min(delivered[identity], earliest or delivered[identity])
            most = max(most, (delivered[identity] - earliest) / SECOND)
    return most


def overtakers(order, delivered, seconds):
    """How many of this order were delivered more than so long before one that stands ahead of them."""
    latest, count = 0, 0
    for identity in order:
        if identity in delivered:
            count += latest - delivered[identity] > seconds * SECOND
            latest = max(latest, delivered[identity])
    return count
