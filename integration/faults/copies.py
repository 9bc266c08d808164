"""Whether an output has each record of its input once, and those of a key in their order. Pure.

Both are given as {(partition of the input, key): [offset in the input, …]}, the offsets in the order of the topic.
"""
from collections import Counter


def breaches(read, written, lows=None):
    """A sentence for each mistake, by the kind of mistake. `lows`: where the log of a partition of the input begins, if what lay
    below was deleted; then nobody can tell whether such a copy is of the input."""
    lows = lows or {}
    found = {}
    for place, offsets in sorted(read.items()):
        copies = written.get(place, [])
        counts = Counter(copies)
        note(found, "lost", place, [offset for offset in offsets if counts[offset] == 0])
        note(found, "written more than once", place, [offset for offset, count in sorted(counts.items()) if count > 1])
        note(found, "not of the input", place, unknown(place, copies, offsets, lows))
        firsts = list(dict.fromkeys(copies))
        note(found, "out of order", place, [after for before, after in zip(firsts, firsts[1:]) if after < before])
    for place in sorted(set(written) - set(read)):
        note(found, "not of the input", place, unknown(place, written[place], (), lows))
    return found


def unknown(place, copies, offsets, lows):
    return sorted(offset for offset in set(copies) - set(offsets) if offset >= lows.get(place[0], 0))


def note(found, what, place, offsets):
    partition, key = place
    if offsets:
        found.setdefault(what, []).append(f"partition {partition}, key {key}: offsets {', '.join(map(str, offsets))}")
