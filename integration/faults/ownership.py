"""Whose a partition was, and how members lost partitions: from the group's generations and from what was done to the members."""
from bisect import bisect_right, insort
from collections import defaultdict
from itertools import pairwise

SECOND = 1_000_000_000
MS = 1_000_000
# A commit is sent about each second: an outage so long before a hand-over can have kept what was done from being committed.
UNCOMMITTED = 3 * SECOND
# Who was stopped or thrown out goes on with what it had under way until it learns that the partitions are another's.
UNAWARE = 10 * SECOND

# A coordinator that throws a member out writes both down, in its log and in that of the offsets, within this time.
BOTH_NOTED = 2 * SECOND
NOWHERE = -1  # no position in the log of offsets

# A coordinator moves with a broker's fault, and again when the broker is back and leads as before (see BROKER_SETTINGS).
COORDINATOR_BACK = 15 * SECOND
SEEN_BY_ALL = 4 * SECOND  # from the time at which partitions are added: the members ask for them every 2 s
REJOINING = 1 * SECOND  # at least, from the last request before to the first one after


def by_partition(requests):
    """{partition: its requests in the order of their begin}"""
    found = defaultdict(list)
    for request in sorted(requests, key=lambda request: request.begun):
        found[request.partition].append(request)
    return found


def first_between(times, begun, ended):
    """The first of these times, in ms, that lies between two in ns; None: none does."""
    return next((time for time in times if begun < (time + 1) * MS and time * MS <= ended), None)


def keeps(before, generation, partition):
    """Whether the owner is the one of the generation before, and goes on. Under classic each generation begins anew: what it
    says of a member does not tell whether the member lost the partition meanwhile and got it again. Brokers that distribute the
    partitions themselves note each loss."""
    return (before is not None and generation.protocol == "consumer"
            and before.owners.get(partition) == generation.owners[partition])


def given_back(before, generation):
    """The partitions that are nobody's from now on. Under classic they are their owner's until another gets them."""
    return before.owners.keys() - generation.owners.keys() if before and generation.protocol == "consumer" else ()


def started_over(requests, fenced):
    """When a member that was thrown out at this time began again with what it had begun before; None: it did not."""
    begun = set()
    for request in requests:
        if fenced < request.begun <= fenced + UNAWARE and request.attempt == 1 and request.offset in begun:
            return request.begun
        begun.add(request.offset)
    return None


class Ownership:
    def __init__(self, facts):
        self.facts = facts
        self.held = defaultdict(list)  # partition -> [(ms, generation, member)] of each ownership's begin; None: it is nobody's
        self.fenced = defaultdict(list)  # member -> [(ms, position)] of generations that it was thrown out of
        for before, generation in pairwise([None, *facts.generations]):
            for partition, identity in generation.owners.items():
                if not keeps(before, generation, partition):
                    self.held[partition].append((generation.time, generation, generation.members[identity]))
            for partition in given_back(before, generation):
                self.held[partition].append((generation.time, generation, None))
        self.committed = defaultdict(list)  # member -> [Commit] of partitions that were its own
        for commit in facts.commits:
            self.committed[self.at_position(commit.partition, commit.position)].append(commit)
        self.taken_again = defaultdict(list)  # partition -> [ns] when its owner had given it back and got it again
        requests = by_partition(facts.requests)
        if not any(generation.protocol == "consumer" for generation in facts.generations):  # where each return is noted
            for partition in requests:
                self.note_returns(partition, requests[partition])
        self.lost = defaultdict(list)  # (member, partition) -> [ms] of generations that it joined without what it had
        for before, after in pairwise(facts.generations):
            for identity in before.members.keys() - after.members.keys():
                self.note_departure(before.members[identity], after)
            if after.protocol == "cooperative-sticky" and self.coordinator_moved(before.time * MS, after.time * MS):
                self.note_losses(before, after)
        for fencing in facts.fencings:
            if not any(abs(time * MS - fencing.time) < BOTH_NOTED for time, _ in self.fenced[fencing.member]):
                self.note_lone_fencing(fencing, requests)

    def note_departure(self, member, generation):
        life = self.facts.lives.get(member)
        if life is None or life.terminated is None or life.terminated > generation.time * MS:
            self.fenced[member].append((generation.time, generation.position))

    def note_losses(self, before, after):
        """A member that keeps its identity can lose its partitions, too: when the coordinator moves during a join, the client
        sends a commit that waited to the new one, which refuses the generation, and librdkafka before 2.10 takes that for a
        loss of everything. What shows it is that the member joins again and claims nothing of what the coordinator's log says
        it had: what is taken away in good order is not claimed only after a generation that takes it away."""
        for partition, identity in before.owners.items():
            if identity in after.members and partition not in after.claims.get(identity, ()):
                self.lost[before.members[identity], partition].append(after.time)

    def note_returns(self, partition, requests):
        """A member that joins again with the same wishes gets the same partitions in the same generation. What shows it is that
        the partition rested meanwhile; only an outage of the brokers is a reason for that."""
        ended = requests[0].ended
        for before, after in pairwise(requests):
            ended = max(ended, before.ended)
            if after.begun - ended > REJOINING and before.member == after.member and (
                    self.commits_may_have_failed(ended - UNCOMMITTED, after.begun)):
                self.taken_again[partition].append(after.begun)

    def note_lone_fencing(self, fencing, requests):
        """A coordinator that stands still while another broker takes over throws members out when it goes on, and nobody takes its
        record of that. The member joins again, and to the group it has never been away."""
        self.fenced[fencing.member].append((fencing.time // MS, NOWHERE))
        for partition, of_partition in requests.items():
            if self.at(partition, fencing.time)[1] == fencing.member:
                started = started_over([request for request in of_partition if request.member == fencing.member], fencing.time)
                if started is not None:
                    insort(self.taken_again[partition], started)

    def ownership(self, request):
        """Equal for two requests that were begun in the same ownership, or after its end and before the next one."""
        begun = bisect_right([ms for ms, _, member in self.held[request.partition] if member], request.begun // MS)
        return begun, bisect_right(self.taken_again[request.partition], request.begun)

    def at(self, partition, time):
        """(generation, member) of the owner at this time in ns; (None, None) before anybody had it."""
        held = self.held[partition]
        place = bisect_right(held, time // MS, key=lambda entry: entry[0])
        return held[place - 1][1:] if place else (None, None)

    def at_position(self, partition, position):
        """The member whose the partition was at a place in the log of offsets."""
        owners = [member for _, generation, member in self.held[partition] if generation.position < position]
        return owners[-1] if owners else None

    def was_fenced(self, member, begun, ended):
        return first_between((time for time, _ in self.fenced[member]), begun, ended) is not None

    def was_fenced_between(self, member, first, last):
        """The same by positions in the log of offsets."""
        return any(first < position < last for _, position in self.fenced[member])

    def was_stopped(self, member, begun, ended):
        """By SIGSTOP, at some time between these."""
        life = self.facts.lives.get(member)
        return life is not None and any(stop <= ended and begun <= resumed for stop, resumed in life.stops)

    def was_lost(self, member, partition, begun, ended):
        """Whether the member joined without what it had, at some time between these."""
        return first_between(self.lost[member, partition], begun, ended) is not None

    def was_killed(self, member, until):
        life = self.facts.lives.get(member)
        return life is not None and life.killed is not None and life.killed <= until

    def owner_of(self, request):
        """(generation, member) of the owner when a request ended."""
        return self.at(request.partition, request.ended)

    def did_not_know(self, request):
        """Whether the member that made the request has an excuse for handling what is another's by then."""
        since = request.begun - UNAWARE
        return (self.was_stopped(request.member, since, request.ended) or self.was_fenced(request.member, since, request.ended)
                or self.was_killed(request.member, request.ended)
                or self.was_lost(request.member, request.partition, request.begun, request.ended))

    def hand_overs(self, partition, done, again):
        """When the partition changed hands between these two times."""
        found = [time * MS for time, _, _ in self.held[partition] if done < (time + 1) * MS and time * MS <= again]
        return found + [time for time in self.taken_again[partition] if done < time <= again]

    def joined_by_itself(self, begun, ended):
        """Whether a client may have joined in this time without waiting for a drain, as it does when it sees added partitions: it
        takes no more commits of what it gives away."""
        return any(fault.kind == "add partitions" and fault.begun <= ended and begun <= fault.ended + SEEN_BY_ALL
                   for fault in self.facts.faults)

    def commits_may_have_failed(self, begun, ended):
        return any(fault.keeps_commits_away and fault.begun <= ended and begun <= fault.ended for fault in self.facts.faults)

    def coordinator_moved(self, begun, ended):
        return any((fault.of_brokers or fault.kind == "move leaders") and fault.begun <= ended
                   and begun <= fault.ended + COORDINATOR_BACK for fault in self.facts.faults)

    def last_commits_of(self, first, again):
        """Of the member that did a record first, before the partition became another one's that does the record again: its last
        commit of the partition, or None, and the time in ms of its last commit of any partition, or None."""
        begun = self.owner_of(first)[0].position
        changes = [generation.position for _, generation, member in self.held[again.partition]
                   if generation.position > begun and generation.time * MS <= again.begun and member != first.member]
        own = [commit for commit in self.committed[first.member] if begun < commit.position < min(changes, default=0)]
        of_partition = [commit for commit in own if commit.partition == first.partition]
        return of_partition[-1] if of_partition else None, own[-1].time if own else None

    def loss(self, first, again):
        """(what, when) kept the member that made the request `first` from committing it, before the ownership began in which the
        record is done again; or None."""
        before, after = self.owner_of(first)[0], self.at(again.partition, again.begun)[0]
        changed = before and after and after.position > before.position
        until = (after.time + 1) * MS if changed else again.begun
        life = self.facts.lives.get(first.member)
        if life and life.killed is not None and life.killed <= until:
            return "killed", life.killed
        for stop, resumed in life.stops if life else ():
            if stop <= until and first.begun <= resumed:
                return "stopped", stop
        for what, times in (("fenced", [time for time, _ in self.fenced[first.member]]),
                            ("lost", self.lost[first.member, first.partition])):
            time = first_between(times, first.begun, until)
            if time is not None:
                return what, time * MS
        return None

    def went_on(self, first, again):
        """Whether the member was thrown out before it did the record, and began again after that."""
        return first.member == again.member and self.ownership(first) != self.ownership(again) and (
            self.was_fenced(first.member, first.begun - UNAWARE, first.begun))

    def why_again(self, first, again):
        """What explains that a record which was done by the request `first` is handled `again`; None: nothing does."""
        for request in (first, again):
            owners = {self.at(request.partition, request.begun)[1], self.owner_of(request)[1]}
            if owners != {request.member} and self.did_not_know(request):
                return "handled by a member that did not know of its loss"
        lost = self.loss(first, again)
        if lost:
            return lost[0]
        if self.went_on(first, again):
            return "handled by a member that did not know of its loss"
        hand_overs = self.hand_overs(again.partition, first.ended, again.begun)
        if any(self.commits_may_have_failed(first.ended - UNCOMMITTED, time) for time in hand_overs):
            return "handed over while commits may have failed"
        if any(time < first.ended + UNCOMMITTED and self.joined_by_itself(time, time) for time in hand_overs):
            return "handed over to partitions that were added"
        return None
