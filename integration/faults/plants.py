"""Breaches that are planted into the facts of a real run: what the judge misses there, it would miss of the service, too.

A plant takes facts that it may change and returns the rule that has to report it; None if these facts have no place for the breach.
"""
import copy
from dataclasses import replace

import judge
from facts import Parked
from judge import COMMIT_HAS_ALL, UNSEEN, Case, parked_requests
from ownership import MS, SECOND


def owned_records(facts):
    """Requests that were done at their owner, with the ownership before and after; those of the quiet middle first."""
    case = Case(facts)
    times = [generation.time * MS for generation in facts.generations]
    hurts = [(fault.begun, fault.ended) for fault in facts.faults if fault.kind not in ("join", "move leaders", "add partitions")]
    quiet = [request for request in sorted(facts.requests, key=lambda request: request.begun) if request.done
             and case.ownership.owner_of(request)[1] == request.member
             and all(abs(request.begun - time) > SECOND for time in times)
             and not any(begun - SECOND < request.begun < ended + 11 * SECOND for begun, ended in hurts)
             and len(case.done[request.partition][request.offset]) == 1]
    return quiet or [request for request in facts.requests if request.done]


def drop_a_done_record(facts):
    lost = owned_records(facts)[0]
    facts.requests = [request for request in facts.requests
                      if (request.partition, request.offset) != (lost.partition, lost.offset)]
    return "nothing_lost"


def commit_before(facts, ahead):
    """The place of a commit; what is so many records above its watermark is not done for another second."""
    case = Case(facts)
    return next(place for place, commit in enumerate(facts.commits) if
                (case.first_done(commit.partition, commit.offset + ahead) or 0) > commit.time * MS + SECOND)


def commit_early(facts):
    place = commit_before(facts, 30)
    facts.commits[place] = facts.commits[place]._replace(offset=facts.commits[place].offset + 31, runs=())
    return "nothing_committed_early"


def map_early(facts):
    place = commit_before(facts, 30)
    offset = facts.commits[place].offset + 30
    facts.commits[place] = facts.commits[place]._replace(runs=((offset, offset + 1),))
    return "nothing_committed_early"


def commit_backward(facts):
    last = facts.commits[-1]
    facts.commits.append(last._replace(position=last.position + 1, offset=last.offset - 10, runs=()))
    return "offsets_go_forward"


def repeat_a_record(facts):
    first = owned_records(facts)[0]
    facts.requests.append(first._replace(begun=first.ended + MS, ended=first.ended + 2 * MS))
    return "duplicates_are_explained"


def repeat_what_is_committed(facts):
    first = owned_records(facts)[0]
    facts.requests.append(first._replace(begun=facts.finished, ended=facts.finished + MS,
                                         member=Case(facts).ownership.at(first.partition, facts.finished)[1]))
    return "committed_is_left_alone"


def invert_two(facts):
    """The second of two records of a key is done before the first, within one ownership."""
    ownership = Case(facts).ownership.ownership
    for first in owned_records(facts):
        after = [request for request in facts.requests if request.begun > first.ended and request.done
                 and (request.partition, request.member, request.key) == (first.partition, first.member, first.key)
                 and ownership(request) == ownership(first)]
        if after:
            second = min(after, key=lambda request: request.begun)
            facts.requests.remove(first)
            facts.requests.remove(second)
            facts.requests += [first._replace(begun=second.begun, ended=second.ended),
                               second._replace(begun=first.begun, ended=first.ended)]
            break
    return "keys_in_order"


def work_at_another(facts):
    """A record of a partition runs at a member that does not own the partition."""
    first = owned_records(facts)[0]
    facts.requests.append(first._replace(member="stranger"))
    return "one_owner"


def write_a_dead_letter(facts):
    facts.letters.append((*facts.acknowledged[0].partition, facts.acknowledged[0].offset))
    return "no_dead_letters"


def rest(facts):
    """Nothing of one partition is done for 20 s after the last fault."""
    since = Case(facts).last_fault()
    partition = facts.acknowledged[-1].partition
    facts.requests = [request._replace(begun=request.begun + 20 * SECOND, ended=request.ended + 20 * SECOND)
                      if request.partition == partition and request.ended > since else request for request in facts.requests]
    facts.finished += 20 * SECOND
    return "progress"


def leave_the_end_uncommitted(facts):
    end = facts.ends[facts.commits[-1].partition]
    facts.commits = [commit for commit in facts.commits
                     if commit.partition != facts.commits[-1].partition or commit.offset < end]
    return "progress"


def end_a_member(facts):
    life = next(iter(facts.lives.values()))
    life.killed, life.terminated, life.exited, life.code = None, None, facts.finished, 70
    return "members_live"


def park_in_order(facts):
    """A record of a group that keeps an order waits in a retry topic."""
    first = facts.acknowledged[0]
    facts.ordered = True
    facts.parked[(*first.partition, first.offset)] = Parked(first.number, first.time)
    return "nothing_is_parked_in_order"


def done_when_parked(facts):
    """A request that did a parked record from its retry topic, as far as possible from the ends of members and from rebalances, and
    its distance from these (ns); (None, 0) if there is no such request."""
    times = [generation.time * MS for generation in facts.generations]
    times += [time for life in facts.lives.values() for time in (life.killed, *(stop for stop, _ in life.stops)) if time]
    given_up = set(facts.letters)
    found = [(min((abs(request.ended - time) for time in times), default=0), request) for request in facts.other_requests
             if request.done and (*request.partition, request.offset) in facts.parked.keys() - given_up]
    distance, request = max(found, default=(0, None), key=lambda one: one[0])
    return request, distance


def forget_a_parked_record(facts):
    """It never comes back from its retry topic, and is no dead letter."""
    lost, _ = done_when_parked(facts)
    if lost is None:
        return None
    facts.requests, facts.other_requests = (
        [request for request in requests if (request.partition, request.offset) != (lost.partition, lost.offset)]
        for requests in (facts.requests, facts.other_requests))
    return "parked_is_done_once"


def repeat_a_parked_record(facts):
    """It is in its retry topic twice, and both are done."""
    first, distance = done_when_parked(facts)
    if distance <= COMMIT_HAS_ALL + SECOND:  # a fault may repeat the record
        return None
    facts.other_requests.append(first._replace(begun=first.ended + MS, ended=first.ended + 2 * MS))
    return "parked_is_done_once"


def use_up_attempts_while_parked(facts):
    """A record comes back with one attempt more than there were requests for it."""
    first, _ = done_when_parked(facts)
    if first is None or any(fault.kind in UNSEEN for fault in facts.faults):
        return None
    before = parked_requests(Case(facts))[(*first.partition, first.offset)].index(first)
    facts.other_requests.remove(first)
    facts.other_requests.append(first._replace(attempt=before + 2))
    return "parked_keeps_its_attempts"


PLANTS = (drop_a_done_record, commit_early, map_early, commit_backward, repeat_a_record, repeat_what_is_committed, invert_two,
          work_at_another, write_a_dead_letter, rest, leave_the_end_uncommitted, end_a_member, park_in_order)
# For facts with parked records.
PARKED_PLANTS = (forget_a_parked_record, repeat_a_parked_record, use_up_attempts_while_parked, park_in_order)


def copied(facts):
    """Its entries are never changed, but for those of lives."""
    return replace(facts, requests=list(facts.requests), commits=list(facts.commits), letters=list(facts.letters),
                   other_requests=list(facts.other_requests), parked=dict(facts.parked), lives=copy.deepcopy(facts.lives))


def reported(rule, facts):
    """How many breaches of this rule."""
    return sum(1 for _ in getattr(judge, rule)(judge.Case(facts)))


def unseen(facts, plants=PLANTS):
    """The names of the plants that the judge does not report beside what it reports of the facts as they are."""
    missed = []
    for plant in plants:
        changed = copied(facts)
        rule = plant(changed)
        if rule and reported(rule, changed) <= reported(rule, facts):
            missed.append(plant.__name__)
    return missed
