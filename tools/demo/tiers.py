"""What the journal says of records of several priorities: when they began and ended, on how many workers at once, and whether a
record of low priority waited for too long. Pure.

A journal does not name the worker of an attempt, and it need not: a pool with one worker runs one record at a time on its own, so
the others ran on workers of the pools that help it.
"""
from typing import NamedTuple

from .evidence import percentile

NS = 1_000_000_000
HEADER = "priority"


class Job(NamedTuple):
    """A record that was finished, and the attempt that finished it. Times in ns since 1970."""

    tier: str  # the pool that the record belongs to
    pool: str  # the pool that had the record, by the journal
    appended: int  # when the broker had it
    start: int
    end: int

    @property
    def began(self):
        """ms from the broker to the start of the work."""
        return (self.start - self.appended) / 1e6

    @property
    def done(self):
        """ms from the broker to the end of the work."""
        return (self.end - self.appended) / 1e6

    @property
    def took(self):
        return (self.end - self.start) / 1e6


def written(topic, lines):
    """{place: (ns since 1970, priority or None)} of the lines of `kafka_tool read`."""
    found = {}
    for line in lines:
        priorities = [bytes.fromhex(value).decode() for name, value in line["headers"] if name == HEADER and value is not None]
        found[topic, line["partition"], line["offset"]] = (line["timestamp"] * 1_000_000, priorities[-1] if priorities else None)
    return found


def jobs(records, found, tiers, default):
    """`records`: of written(); `found`: of successes(). A priority that is none of `tiers` belongs to `default`. In the order of their
    start."""
    of_all = [Job(priority if priority in tiers else default, found[place][0].fields.get("pool", ""), time, found[place][0].start,
                  found[place][0].end) for place, (time, priority) in records.items() if place in found]
    return sorted(of_all, key=lambda job: job.start)


def of(some_jobs, tier):
    return [job for job in some_jobs if job.tier == tier]


def by_phase(all_jobs, begun):
    """{phase: the jobs whose records were written in it}; `begun`: {phase: when, in ns since 1970}, one after another."""
    names, times = list(begun), [*begun.values(), float("inf")]
    return {name: [job for job in all_jobs if times[i] <= job.appended < times[i + 1]] for i, name in enumerate(names)}


def at_once(some_jobs):
    """How many ran at once at the most."""
    running = most = 0
    for _, change in sorted([(job.start, 1) for job in some_jobs] + [(job.end, -1) for job in some_jobs]):  # ends before starts
        running += change
        most = max(most, running)
    return most


def lateness(some_jobs, longest_wait, share):
    """The most seconds by which a job began later than a worker must begin it of which `share` belongs to these jobs: when the job had
    waited for `longest_wait` s, or when the share had paid for the jobs before it, whichever was later. 0 if none was late. `some_jobs`:
    in the order of their start."""
    late = paid = 0
    for job in some_jobs:
        due = max(job.appended + int(longest_wait * NS), paid)
        late = max(late, job.start - due)
        paid = max(min(job.start, due), paid) + (job.end - job.start) / share
    return late / NS


def busy(some_jobs, begin, end):
    """How many of the jobs ran at once between two times, on average."""
    return sum(max(0, min(job.end, end) - max(job.start, begin)) for job in some_jobs) / (end - begin)


def worked(some_jobs):
    """How many ran at once on average, from the first start to the last start. `some_jobs`: in the order of their start."""
    return busy(some_jobs, some_jobs[0].start, some_jobs[-1].start)


def per_second(some_jobs):
    """From the first start to the last end."""
    return len(some_jobs) / (max(job.end for job in some_jobs) - min(job.start for job in some_jobs)) * NS


def done_of_written(some_jobs):
    """The jobs per second, from the first record that was written to the last end, divided by the records per second that were written."""
    times = [job.appended for job in some_jobs]
    return (max(times) - min(times)) / (max(job.end for job in some_jobs) - min(times))


COLUMNS = ("best", "p50", "p99", "worst")
HEAD = (f"{'':<31}  {'begins after (ms)':>36}  {'is done after (ms)':>36}",
        f"{'while':<16}{'tier':<8}{'records':>7}" + ("  " + "".join(f"{name:>9}" for name in COLUMNS)) * 2)


def row(phase, tier, some_jobs):
    """A row of the table."""
    text = f"{phase:<16}{tier:<8}{len(some_jobs):>7,}"
    for value in ("began", "done"):
        times = sorted(getattr(job, value) for job in some_jobs)
        text += "  " + "".join(f"{time:>9,.1f}" for time in (times[0], percentile(times, 50), percentile(times, 99), times[-1]))
    return text
