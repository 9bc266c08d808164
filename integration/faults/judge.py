"""Judges the recorded facts of a run with faults. Pure: no clock, no Kafka, no processes.

Each rule is a function of a Case that yields a sentence for each breach. judge() calls all of them.
"""
from collections import Counter, defaultdict
from itertools import pairwise

from ownership import MS, SECOND, UNAWARE, Ownership, by_partition

PROGRESS_WITHIN = 15 * SECOND  # after the last fault, and without a rest of that length from then on
CAUGHT_UP_WITHIN = 30 * SECOND  # a record that was acknowledged is done, once there are no faults any more
COMMIT_HAS_ALL = 2 * SECOND  # from the answer of the downstream to the commit that has the record
ABANDONED, DENIED = 75, 69  # exit codes
STARTS_WITHIN = 5 * SECOND
UNSEEN = ("refuse", "tls", "certificate in a drain")  # faults in which a call fails and the web service has no request of it
SHOWN = 8  # breaches of each rule


class Case:
    """The facts, sorted as the rules need them."""

    def __init__(self, facts):
        self.facts, self.ownership = facts, Ownership(facts)
        self.requests = by_partition(facts.requests)
        self.done = defaultdict(dict)  # partition -> {offset: [Request] in the order of their end}
        self.commits = defaultdict(list)  # partition -> [Commit] in the order of the log
        # Where records were that went to another topic, or that an operator may give up.
        self.elsewhere = {*facts.letters, *facts.passed_on, *facts.corrupt}
        for request in sorted(facts.requests, key=lambda request: request.ended):
            if request.done:
                self.done[request.partition].setdefault(request.offset, []).append(request)
        for commit in facts.commits:
            self.commits[commit.partition].append(commit)

    def first_done(self, partition, offset):
        """When a record was done for the first time, or None."""
        found = self.done[partition].get(offset)
        return found[0].ended if found else None

    def last_fault(self):
        return max((fault.ended for fault in self.facts.faults), default=self.facts.begun)

    def clock(self, time):
        """A time in ns, as seconds since the run began."""
        return f"{(time - self.facts.begun) / SECOND:.3f} s"


def place(partition, offset):
    return f"{partition[0]}-{partition[1]}-{offset}"


def nothing_lost(case):
    """Every acknowledged record, and whatever else is in the log, was done or is a dead letter, or is in a retry topic; but for
    those whose batch cannot be read."""
    expected = defaultdict(set)
    for record in case.facts.acknowledged:
        expected[record.partition].add(record.offset)
        if record.offset not in case.facts.log.get(record.partition, ()):
            yield f"{place(record.partition, record.offset)}: acknowledged, and not in the log: Kafka lost the record"
    for partition, offsets in case.facts.log.items():
        expected[partition] |= set(offsets)
    for partition, offsets in sorted(expected.items()):
        for offset in sorted(offsets - case.done[partition].keys()):
            if (*partition, offset) not in case.elsewhere:
                yield f"{place(partition, offset)}: in the log, and never done"


def what_retention_took_is_told(case):
    """A record that was deleted was done, or went to another topic, or a member's log says that it is missing."""
    for record in case.facts.deleted:
        told = any(begin <= record.offset < end for begin, end in case.facts.gaps.get(record.partition, ()))
        if not told and record.offset not in case.done[record.partition] and (*record.partition, record.offset) not in case.elsewhere:
            yield f"{place(record.partition, record.offset)}: deleted by retention and never done, and no log tells of it"


def what_is_passed_on_is_finished(case):
    """A record that went to a retry topic was done there, or is a dead letter."""
    requests = [*case.facts.requests, *case.facts.other_requests]
    done = {request.number for request in requests if request.done} | {*case.facts.letter_numbers.values()}
    for (topic, partition, offset), number in sorted(case.facts.passed_on.items()):
        if number not in done:
            yield f"{place((topic, partition), offset)}: in a retry topic, and never done"


def parked_is_done_once(case):
    """A record that was parked was done, or is a dead letter; and not again, but for what a member's end or a rebalance repeats, or
    an attempt that failed for the member."""
    changes = [generation.time * MS for generation in case.facts.generations]
    changes += [time for life in case.facts.lives.values() for time in (life.killed, *(stop for stop, _ in life.stops)) if time]
    for where, requests in sorted(parked_requests(case).items()):
        done = [request for request in requests if request.done]
        if not done and where not in case.facts.letters:
            yield f"{place(where[:2], where[2])}: parked, and never done"
        for first, again in pairwise(done):
            known = again.attempt > first.attempt  # as a call that was not answered in time
            if not known and not any(first.ended - COMMIT_HAS_ALL <= time <= again.begun for time in changes):
                yield (f"{place(where[:2], where[2])}: parked, done at {case.clock(first.ended)} and again from "
                       f"{case.clock(again.begun)} (attempts {first.attempt} and {again.attempt})")


def parked_requests(case):
    """{place of a record that was parked: all requests for it, in the order of their end}"""
    found = {where: [] for where in case.facts.parked}
    for request in sorted([*case.facts.requests, *case.facts.other_requests], key=lambda request: request.ended):
        if (*request.partition, request.offset) in found:
            found[*request.partition, request.offset].append(request)
    return found


def parked_keeps_its_attempts(case):
    """Being parked uses up no attempt: each that counts is a request, unless calls fail before there is a request."""
    if any(fault.kind in UNSEEN for fault in case.facts.faults):
        return
    for where, requests in sorted(parked_requests(case).items()):
        for before, request in enumerate(requests):
            if request.attempt > before + 1:  # one that was done may have failed for the member: its answer came too late
                yield f"{place(where[:2], where[2])}: attempt {request.attempt} at {case.clock(request.begun)}, after {before} requests"


def nothing_is_parked_in_order(case):
    """A record that is parked overtakes nobody, but those of its key overtake it."""
    for where in sorted(case.facts.parked if case.facts.ordered else ()):
        yield f"{place(where[:2], where[2])}: parked, although records keep an order"


def new_topics_are_done(case):
    """Where a topic was deleted and made anew, each record of the new one was done where it is, or is a dead letter."""
    done = {(request.partition, request.offset, request.number) for request in case.facts.other_requests if request.done}
    given_up = {*case.facts.letter_numbers.values()}
    for record in case.facts.anew:
        if (record.partition, record.offset, record.number) not in done and record.number not in given_up:
            yield f"{place(record.partition, record.offset)}: in the topic that was made anew, and never done"


def poison_is_given_up(case):
    """A record that never works is a dead letter."""
    given_up = set(case.facts.letter_numbers.values())
    for record in case.facts.acknowledged:
        unreadable = (*record.partition, record.offset) in case.facts.corrupt
        if record.number in case.facts.poison - given_up and not unreadable:
            yield f"{place(record.partition, record.offset)}: never works, and is no dead letter"


def same_records(case):
    """The record that was done at an offset is the record that was acknowledged there."""
    written = {(record.partition, record.offset): record.number for record in case.facts.acknowledged}
    for request in case.facts.requests:
        number = written.get((request.partition, request.offset), request.number)
        if request.done and request.number != number:
            yield (f"{place(request.partition, request.offset)}: the record {request.number} was done, and the record "
                   f"{number} was acknowledged")


def nothing_committed_early(case):
    """Whatever a commit counts as finished had been done before the coordinator took the commit."""
    for partition, commits in sorted(case.commits.items()):
        log = case.facts.log.get(partition, set())  # none: the partition never had a record
        offsets = sorted(log)
        checked = set()  # the first commit that has an offset is the strictest
        below = 0
        for commit in commits:
            has = [offset for begin, end in commit.runs for offset in range(begin, end)]
            while below < len(offsets) and offsets[below] < (commit.offset or 0):
                has.append(offsets[below])
                below += 1
            for offset in has:
                if offset not in checked and offset in log:
                    checked.add(offset)
                    yield from early(case, commit, offset)


def early(case, commit, offset):
    if (*commit.partition, offset) in case.elsewhere:
        return
    done = case.first_done(commit.partition, offset)
    if done is None or done >= (commit.time + 1) * MS:
        when = "never" if done is None else f"only at {case.clock(done)}"
        yield (f"{place(commit.partition, offset)}: committed at {case.clock(commit.time * MS)} (watermark {commit.offset}, "
               f"position {commit.position}), and done {when}")


def offsets_go_forward(case):
    """The committed offset goes back only where its owner was fenced; what a completion map has stays finished."""
    for partition, commits in sorted(case.commits.items()):
        for before, after in pairwise(commits):
            if after.offset is None:
                yield f"{place(partition, before.offset)}: the committed offset was deleted at position {after.position}"
            elif before.offset is not None and after.offset < before.offset:
                owner = case.ownership.at_position(partition, before.position)
                if not case.ownership.was_fenced_between(owner, before.position, after.position):
                    yield (f"{place(partition, before.offset)}: the committed offset went back to {after.offset} at "
                           f"{case.clock(after.time * MS)} (positions {before.position} and {after.position}); it was {owner}'s "
                           f"at the first, and {case.ownership.at_position(partition, after.position)}'s at the second")


def committed_is_left_alone(case):
    """The owner of a partition begins nothing that a commit has counted as finished before."""
    for partition, requests in sorted(case.requests.items()):
        commits = case.commits[partition]
        taken = 0
        for request in requests:
            while taken < len(commits) and commits[taken].time is not None and (commits[taken].time + 1) * MS <= request.begun:
                taken += 1
            owner = case.ownership.at(partition, request.begun)[1]
            if taken and request.member == owner and commits[taken - 1].covers(request.offset):
                yield (f"{place(partition, request.offset)}: begun by {request.member} at {case.clock(request.begun)}, although "
                       f"the commit at {case.clock(commits[taken - 1].time * MS)} (watermark {commits[taken - 1].offset}) has it")


def duplicates_are_explained(case):
    """A record that was done is done again only where its member died, was stopped or fenced, or gave the partition away
    while no coordinator answered; and no commit had said that it was done."""
    for partition, done in sorted(case.done.items()):
        for offset, requests in sorted(done.items()):
            for first, again in pairwise(requests):
                if case.ownership.why_again(first, again) is None:
                    yield (f"{place(partition, offset)}: done by {first.member} at {case.clock(first.ended)}, and again by "
                           f"{again.member} from {case.clock(again.begun)} (attempt {again.attempt}) for no reason")
                else:
                    yield from left_out(case, first, again)


def left_out(case, first, again):
    """While a member commits, it commits all that it has done: no more is done again than what came after its last commit."""
    if first.member != case.ownership.owner_of(first)[1]:
        return
    commit, last = case.ownership.last_commits_of(first, again)
    if last is None or first.ended + COMMIT_HAS_ALL > last * MS or (commit and commit.covers(first.offset)):
        return
    if case.ownership.was_fenced(first.member, first.ended, last * MS):  # it commits what it has done since it came again
        return
    if not case.ownership.commits_may_have_failed(first.ended, last * MS):
        yield (f"{place(first.partition, first.offset)}: done by {first.member} at {case.clock(first.ended)}, left out of its "
               f"commits until {case.clock(last * MS)}, and done again by {again.member} from {case.clock(again.begun)}")


def one_owner(case):
    """No member runs a record of a partition that another member owns, except members that were fenced, stopped or killed."""
    for partition, requests in sorted(case.requests.items()):
        for request in requests:
            generation, owner = case.ownership.owner_of(request)
            if request.status is None or owner in (None, request.member) or case.ownership.did_not_know(request):
                continue
            yield (f"{place(partition, request.offset)}: at work at {request.member} from {case.clock(request.begun)} to "
                   f"{case.clock(request.ended)}, although {owner} owns it since {case.clock(generation.time * MS)} "
                   f"(generation {generation.number})")


def keys_in_order(case):
    """At one owner, the records of a key run one after the other in the order of the log, retries included."""
    lines = defaultdict(list)
    for partition, requests in case.requests.items() if case.facts.ordered else ():
        for request in requests:
            lines[partition, request.member, request.key].append(request)
    for (partition, member, key), requests in sorted(lines.items()):
        for before, after in pairwise(requests):
            what = disorder(case, before, after)
            if what:
                yield f"{place(partition, after.offset)}: {what} (key {key}, {member}, {case.clock(after.begun)})"


def disorder(case, before, after):
    if before.status is not None and after.begun < before.ended:
        return f"began before {before.offset} had ended"
    if case.ownership.ownership(before) != case.ownership.ownership(after):
        return None  # a new ownership begins where the commit says
    if after.offset < before.offset:
        return f"ran after {before.offset}"
    given_up = (case.facts.poison or case.facts.letters_allowed) and (*before.partition, before.offset) in case.elsewhere
    if after.offset > before.offset and not before.done and not given_up:
        return f"ran although {before.offset} had not been done (status {before.status})"
    return None


def no_dead_letters(case):
    """Of records that work."""
    letters = [letter for letter in case.facts.letters if case.facts.letter_numbers.get(letter) not in case.facts.poison]
    for topic, partition, offset in letters if len(letters) > case.facts.letters_allowed else ():
        yield f"{place((topic, partition), offset)}: is a dead letter"


def progress(case):
    """After the last fault no partition rests for 15 s while records wait, none waits for much longer than that, and in the end
    all is done and committed."""
    since = case.last_fault()
    for partition, offsets in sorted(case.facts.log.items()):
        waits = {record.offset: max(record.time, since) for record in case.facts.acknowledged
                 if record.partition == partition and (*partition, record.offset) not in case.elsewhere}
        waits = {offset: (begun, case.first_done(partition, offset) or case.facts.finished)
                 for offset, begun in waits.items() if (case.first_done(partition, offset) or case.facts.finished) > since}
        ends = sorted({since, *(ended for _, ended in waits.values())})
        for before, after in pairwise(ends):
            if after - before > PROGRESS_WITHIN and any(
                    begun + PROGRESS_WITHIN < after <= ended for begun, ended in waits.values()):
                yield (f"{place(partition, '?')}: nothing of the partition was done from {case.clock(before)} to "
                       f"{case.clock(after)}; the last fault ended at {case.clock(since)}")
        for offset, (begun, ended) in sorted(waits.items()):
            if ended - begun > CAUGHT_UP_WITHIN:
                yield (f"{place(partition, offset)}: waited from {case.clock(begun)} to {case.clock(ended)}; the last fault "
                       f"ended at {case.clock(since)}")
        yield from uncommitted(case, partition)


def uncommitted(case, partition):
    last = case.commits[partition][-1].offset if case.commits[partition] else None
    end = case.facts.ends.get(partition, 0)
    if end > 0 and last != end:
        yield f"{place(partition, end)}: the log ends here, and {last} is committed at the end"


def members_live(case):
    """A member ends only on request, with 0, or with 75 if its running records were lost; or with 69 if it has no right to begin."""
    for name, life in sorted(case.facts.lives.items()):
        if life.exited is None or life.killed is not None or was_denied(case, life):
            continue
        if life.terminated is None or life.exited < life.terminated:
            yield f"{name}: ended by itself with {life.code} at {case.clock(life.exited)}"
        elif life.code != 0 and not (life.code == ABANDONED and may_abandon(case, name, life)):
            yield f"{name}: ended with {life.code} after SIGTERM"


def was_denied(case, life):
    """Whether it began while its user had not all rights; or was there while its user had none to a group of the consumer protocol,
    where a refused heartbeat is the client's end."""
    by_brokers = any(generation.protocol == "consumer" for generation in case.facts.generations)
    return life.code == DENIED and any(
        fault.begun - STARTS_WITHIN <= life.started <= fault.ended
        or by_brokers and fault.what.startswith("group ") and life.started < fault.begun <= life.exited
        for fault in case.facts.faults if fault.kind == "take rights")


def may_abandon(case, name, life):
    """Its partitions were lost while it worked, or no broker took its last commit, or the client did not wait for its drain."""
    since = life.terminated - UNAWARE
    return (case.ownership.was_stopped(name, since, life.exited) or case.ownership.was_fenced(name, since, life.exited)
            or case.ownership.commits_may_have_failed(life.terminated, life.exited)
            or case.ownership.joined_by_itself(life.terminated, life.exited))


def evidence_is_there(case):
    """A run of which nothing was seen proves nothing."""
    for what in ("acknowledged", "requests", "commits", "generations", "lives", "faults", "log"):
        if not getattr(case.facts, what):
            yield f"there is no evidence of {what}"


RULES = (nothing_lost, what_retention_took_is_told, what_is_passed_on_is_finished, parked_is_done_once,
         parked_keeps_its_attempts, nothing_is_parked_in_order, new_topics_are_done, poison_is_given_up,
         same_records, nothing_committed_early, offsets_go_forward, committed_is_left_alone, duplicates_are_explained, one_owner,
         keys_in_order, no_dead_letters, progress, members_live, evidence_is_there)


def judge(facts):
    """{rule: [sentences]} of the broken rules, and counts of the facts."""
    case = Case(facts)
    breaches = {}
    for rule in RULES:
        found = list(rule(case))
        if found:
            breaches[rule.__name__] = [f"{len(found)} in all", *found[:SHOWN]]
    again = [case.ownership.why_again(first, next_one) for done in case.done.values() for requests in done.values()
             for first, next_one in pairwise(requests)]
    counts = {"acknowledged": len(facts.acknowledged), "in new topics": len(facts.anew), "parked": len(facts.parked), "corrupt": len(facts.corrupt),
              "deleted and not done": sum(record.offset not in case.done[record.partition] for record in facts.deleted),
              "requests": len(facts.requests), "done": sum(map(len, case.done.values())), "commits": len(facts.commits),
              "maps": sum(bool(commit.runs) for commit in facts.commits), "generations": len(facts.generations),
              "fenced": sum(map(len, case.ownership.fenced.values())),
              "done again, by reason": dict(Counter(map(str, again)))}
    return breaches, counts
