"""The invariants. Each check is a function of the evidence (and of what was promised) that yields violations.

Times are compared as the service's processes and the harness wrote them: one machine, one system clock.
"""
from collections import Counter, defaultdict
from itertools import pairwise
from typing import NamedTuple, Optional

from evidence import DESCRIPTIONS, FORWARDED, TO_RETRY_TOPICS


class Violation(NamedTuple):
    check: str
    where: str  # topic-partition-offset
    what: str


class Promises(NamedTuple):
    """The rules of this scenario: what the service may do, and what it must do."""

    order: str = "none"  # none | key | partition
    complete: bool = True  # the run went on until nothing was left to do
    stopped_clean: bool = False  # every process was asked to stop and had the time to drain
    duplicates: int = 0  # records that may succeed more than once
    settled: Optional[int] = None  # ns since 1970: what had succeeded by then was committed, and comes not again
    log_shrinks: bool = False  # compaction or retention removed records while the run went on


def place(partition, offset):
    return f"{partition[0]}-{partition[1]}-{offset}"


def by_assignment(attempts):
    """{assignment: its attempts in the order of their start}, assignments in the order of their first start."""
    groups = defaultdict(list)
    for attempt in sorted(attempts, key=lambda attempt: (attempt.start, attempt.end)):
        groups[attempt.assignment].append(attempt)
    return groups


def committed_was_processed(evidence, promises):
    """Invariants 1 and 2: below a committed offset, every record was processed before the commit was seen."""
    for partition in evidence.partitions():
        done = evidence.finished(partition)
        visible = sorted(evidence.log[partition])
        for commits in evidence.commits:
            committed = commits.offsets.get(partition, 0)
            for offset in visible:
                if offset >= committed:
                    break
                if offset not in done:
                    yield Violation("committed_was_processed", place(partition, offset),
                                    f"{committed} was committed, but this record was never processed")
                elif done[offset] > commits.time:
                    yield Violation("committed_was_processed", place(partition, offset),
                                    f"{committed} was committed before this record was processed")


def commits_never_go_back(evidence, promises):
    """Invariant 2: a commit after the revoke, or of a late completion, shows as a step backwards."""
    last = {}
    for commits in evidence.commits:
        for partition, offset in last.items():
            found = commits.offsets.get(partition)
            asked = commits.topics is None or partition[0] in commits.topics
            if asked and (found is None or found < offset):
                yield Violation("commits_never_go_back", place(partition, offset),
                                f"this offset was committed, later {'none' if found is None else found}")
        last.update(commits.offsets)


def nothing_lost(evidence, promises):
    """Invariant 3: when the run is complete, every record that a reader sees was processed."""
    if not promises.complete:
        return
    for partition in evidence.partitions():
        for offset in sorted(set(evidence.log[partition]) - set(evidence.finished(partition))):
            yield Violation("nothing_lost", place(partition, offset), "in the log, but never processed")


def nothing_invented(evidence, promises):
    """Invariant 3, the other way: every processed record is in the log (aborted transactions are not)."""
    for partition in evidence.partitions():
        if promises.log_shrinks:
            continue
        for offset in sorted({attempt.offset for attempt in evidence.attempts[partition]} - set(evidence.log[partition])):
            yield Violation("nothing_invented", place(partition, offset), "processed, but no reader sees such a record")


def acknowledged_is_in_log(evidence, promises):
    """About Kafka and the harness, not the service: an acknowledged record is in the log."""
    if promises.log_shrinks:
        return
    for partition, offsets in evidence.acknowledged.items():
        for offset in sorted(offsets - set(evidence.log[partition])):
            yield Violation("acknowledged_is_in_log", place(partition, offset), "acknowledged, but not in the log")


def one_assignment_never_repeats(evidence, promises):
    """Invariant 3: after its success a record does not run again in the same assignment; its attempts do not overlap, except
    those of different sub-jobs."""
    for partition in evidence.partitions():
        for assignment, attempts in by_assignment(evidence.attempts[partition]).items():
            last, whole = {}, {}
            for attempt in attempts:
                before = whole.get(attempt.offset) or last.get((attempt.offset, attempt.part))
                last[attempt.offset, attempt.part] = attempt
                if attempt.succeeded and attempt.part is None:
                    whole[attempt.offset] = attempt
                if before is None:
                    continue
                if before.succeeded:
                    what = f"ran again (attempt {attempt.number}) after its success in the same assignment"
                elif attempt.start < before.end:
                    what = f"attempt {attempt.number} began before attempt {before.number} ended"
                else:
                    continue
                yield Violation("one_assignment_never_repeats", place(partition, attempt.offset), what)


def repeated(evidence):
    """[(partition, offset, the successes)] of the records, and sub-jobs, that succeeded more than once."""
    found = []
    for partition in evidence.partitions():
        successes = defaultdict(list)
        for attempt in evidence.successes(partition):
            successes[attempt.offset, attempt.part or ""].append(attempt)
        found += [(partition, offset, sorted(all_of, key=lambda attempt: attempt.end))
                  for (offset, _), all_of in sorted(successes.items()) if len(all_of) > 1]
    return found


def duplicates_within_bounds(evidence, promises):
    """Invariants 5 and 7: how many succeeded again."""
    found = repeated(evidence)
    if len(found) > promises.duplicates:
        partition, offset, _ = found[0]
        yield Violation("duplicates_within_bounds", place(partition, offset),
                        f"{len(found)} records succeeded more than once, this the first; allowed are {promises.duplicates}")


def redelivered_only_recent(evidence, promises):
    """Invariant 5: records that had succeeded long before a fault were in a commit or its completion map, and stay done."""
    if promises.settled is None:
        return
    for partition, offset, successes in repeated(evidence):
        early = (promises.settled - successes[0].end) / 1e9
        if early > 0:
            yield Violation("redelivered_only_recent", place(partition, offset),
                            f"succeeded {early:.1f} s before the time by which all was committed, and was run again")


def ordered(evidence, promises):
    """Invariant 4: one at a time and in offset order, retries included, per partition or per key.

    Within an assignment the next record starts after the success of the one before. Over assignments records come
    again after a fault, but two never run at the same time.
    """
    if promises.order == "none":
        return
    for partition in evidence.partitions():
        keys = evidence.log[partition]
        lines = defaultdict(list)
        for attempt in sorted(evidence.attempts[partition], key=lambda attempt: (attempt.start, attempt.end)):
            key = "" if promises.order == "partition" else keys.get(attempt.offset)
            if key is not None:  # records without a key have no order among each other
                lines[key].append(attempt)
        for attempts in lines.values():
            yield from ordered_line(partition, attempts)


def ordered_line(partition, attempts):
    for before, after in pairwise(attempts):
        what = None
        if after.start < before.end:
            what = f"began before {before.offset}, of the same line, had ended"
        elif before.assignment == after.assignment and after.offset < before.offset:
            what = f"ran after {before.offset}"
        elif before.assignment == after.assignment and after.offset > before.offset and not before.succeeded:
            what = f"ran although {before.offset} before it had ended with {before.outcome}"
        elif after.offset > before.offset and before.outcome in TO_RETRY_TOPICS:
            what = f"ran although {before.offset} before it waits in a retry topic"
        if what:
            yield Violation("ordered", place(partition, after.offset), what)


def no_start_after_revoke(evidence, promises):
    """Invariant 6: when a newer assignment has begun, nothing of an older one starts, whatever the process."""
    for partition in evidence.partitions():
        groups = list(by_assignment(evidence.attempts[partition]).values())
        for older, newer in pairwise(groups):
            for attempt in older:
                if attempt.start > newer[0].start:
                    yield Violation("no_start_after_revoke", place(partition, attempt.offset),
                                    f"{attempt.assignment} started it after {newer[0].assignment} had begun with "
                                    f"{newer[0].offset}")


def clean_stop_committed_everything(evidence, promises):
    """Invariant 7: after a clean stop nothing that was processed is above the committed offset."""
    if not promises.stopped_clean:
        return
    committed = evidence.last_commits()
    for partition in evidence.partitions():
        for offset in sorted({attempt.offset for attempt in evidence.successes(partition)}):
            if offset >= committed.get(partition, 0):
                yield Violation("clean_stop_committed_everything", place(partition, offset),
                                f"processed, but only {committed.get(partition)} was committed")


def complete_means_no_lag(evidence, promises):
    """Invariant 7: complete and stopped, the committed offset is the log's end, past markers and gaps."""
    if not (promises.complete and promises.stopped_clean):
        return
    committed = evidence.last_commits()
    for partition, end in sorted(evidence.ends.items()):
        if end > evidence.lows[partition] and committed.get(partition) != end:
            yield Violation("complete_means_no_lag", place(partition, end),
                            f"the log ends here, but {committed.get(partition)} was committed")


def told_moves(evidence, outcomes):
    """[(partition, attempt, (origin, sub-job, attempts so far))] of what the journals say was written to another topic."""
    for partition in evidence.partitions():
        for attempt in evidence.attempts[partition]:
            if attempt.outcome in outcomes:
                before = evidence.copy_at(partition, attempt.offset)
                yield partition, attempt, (before.origin if before else (*partition, attempt.offset), attempt.part, attempt.number)


def known_copies(copies):
    return Counter((copy.origin, copy.part, copy.attempts) for copy in copies)


def given_up_is_there(evidence, promises):
    """A record that counted as complete because another topic has it is in that topic, as often as that was said of it."""
    for outcomes, copies in ((("dead_letter",), evidence.copies["dead_letter"]), (TO_RETRY_TOPICS, evidence.copies["retry_topic"])):
        if copies is None:
            continue
        there = known_copies(copies)
        for partition, attempt, known in told_moves(evidence, outcomes):
            there[known] -= 1
            if there[known] < 0:
                yield Violation("given_up_is_there", place(partition, attempt.offset),
                                f"ended with {attempt.outcome} after attempt {attempt.number}, but no such record is there")


def moved_once(evidence, promises):
    """What is in a retry topic was written there once for each time that a journal says so, but for what a fault repeats."""
    copies = evidence.copies["retry_topic"] or []
    told = Counter(known for _, _, known in told_moves(evidence, TO_RETRY_TOPICS))
    more = {known: count - told[known] for known, count in known_copies(copies).items() if count > told[known]}
    if sum(more.values()) > promises.duplicates:
        (topic, partition, offset), _, _ = min(more, key=str)
        yield Violation("moved_once", place((topic, partition), offset),
                        f"{sum(more.values())} records of retry topics are of no journal, this the first; allowed are {promises.duplicates}")


def copies_are_whole(evidence, promises):
    """A dead letter has the key, value, headers and partition of its origin, or reports the missing parts; a header has the
    timestamp of its origin, and its own timestamp is the time of writing."""
    for copy in evidence.copies["dead_letter"] or []:
        origin = evidence.records.get(copy.origin)
        if origin is None:
            continue  # of a topic that was not read
        for what in differences(copy, origin):
            yield Violation("copies_are_whole", place(copy.place[:2], copy.place[2]),
                            f"{what} is not as in its origin {place(copy.origin[:2], copy.origin[2])}")
        first = min((attempt.start for attempt in evidence.attempts[copy.origin[:2]] if attempt.offset == copy.origin[2]), default=0)
        if (copy.record.timestamp + 1) * 1_000_000 <= first:
            yield Violation("copies_are_whole", place(copy.place[:2], copy.place[2]), "its timestamp is not the time of writing")
        if copy.place[1] != copy.origin[1]:
            yield Violation("copies_are_whole", place(copy.place[:2], copy.place[2]),
                            f"its origin {place(copy.origin[:2], copy.origin[2])} has another partition")


CUTS = ("laneway-truncated", "laneway-key-truncated", "laneway-dropped-headers")


def differences(copy, origin):
    """The names of the parts in which a dead letter differs from its origin."""
    letter = copy.record
    if copy.timestamp != origin.timestamp:
        yield "the timestamp in its headers"
    said = {}  # {header of a cut: what was there before the first}
    for name, value in letter.headers:
        if name in CUTS:
            if name in said:
                yield f"one header {name}"
            said[name] = int(bytes.fromhex(value))
    own, before = ([header for header in record.headers if not header[0].startswith(DESCRIPTIONS)]
                   for record in (letter, origin))
    if "laneway-dropped-headers" in said:
        if len(own) + said["laneway-dropped-headers"] > len(before) or any(header not in before for header in own):
            yield "a header"
    elif own != before:
        yield "a header"
    for name, cut in (("key", "laneway-key-truncated"), ("value", "laneway-truncated")):
        now, then = getattr(letter, name), getattr(origin, name)
        if cut in said:
            if not then.startswith(now) or now == then or said[cut] * 2 != len(then):
                yield f"the cut {name}"
        elif now != then:
            yield f"the {name}"


def attempts_are_counted(evidence, promises):
    """A failed attempt counts as one at most, in a retry topic on top of those in the topic before, also after a restart.

    One that failed in an outage is given back, so numbers may go down; a downstream that is out for certain uses none up.
    """
    for partition in evidence.partitions():
        for attempts in by_assignment(evidence.attempts[partition]).values():
            last, failed, outage = {}, set(), False
            for attempt in attempts:
                # Failures of other records, too, may be found to be an outage afterwards, and given back.
                given_back = outage or failed - {attempt.offset}
                expected = expected_numbers(evidence, partition, attempt, last.get((attempt.offset, attempt.part)), given_back)
                last[attempt.offset, attempt.part] = attempt
                outage = outage or attempt.outcome == "unavailable"
                if attempt.outcome == "retry":
                    failed.add(attempt.offset)
                if expected is not None and attempt.number not in expected:
                    yield Violation("attempts_are_counted", place(partition, attempt.offset),
                                    f"{attempt.outcome} is said of attempt {attempt.number}, which should be {expected.stop - 1} at most")


def expected_numbers(evidence, partition, attempt, before, outage):
    """Those that an attempt may have; None: any. `outage`: the downstream may have been out."""
    copy = evidence.copy_at(partition, attempt.offset)
    first = (copy.attempts if copy else 0) + 1
    if attempt.outcome in ("parked", "parked_failed"):  # with the attempts that have counted, and nothing else
        most = first - 1 if before is None else before.number - (before.outcome == "unavailable")
        return range(min(most, first - 1) if outage else most, most + 1)
    if attempt.outcome in FORWARDED:  # alone, when its deaths were counted: that many
        if before is None:
            return None
        # A person may skip a record whose last attempts were given back.
        return range(first if outage else before.number, before.number + 1)
    if before is None:
        return range(first, first + 1)
    return range(first, before.number + (1 if before.outcome == "unavailable" else 2))


ALL = [committed_was_processed, commits_never_go_back, nothing_lost, nothing_invented, acknowledged_is_in_log,
       one_assignment_never_repeats, duplicates_within_bounds, redelivered_only_recent, ordered,
       no_start_after_revoke, clean_stop_committed_everything, complete_means_no_lag, given_up_is_there, moved_once,
       copies_are_whole, attempts_are_counted]
