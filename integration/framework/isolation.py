"""How a service is shown to keep its neighbours apart: acts at given parts of a length, samples of commits and memory meanwhile, and
the figures of the neighbours of somebody who is out, each printed, and judged.

A story makes a Proof, writes records, begins it, plays the acts, and ends it. The functions told_… print their figures and yield a
sentence for each promise that was not kept, so that all figures are there before the first expectation fails.
"""
import contextlib
import json
import statistics
import threading
import time
from collections import Counter

from tools.demo.flow import SECOND, WINDOW, Act, behind, by_act, stalls, touched
from waits import Failed, wait_until
from writers import Writers

AT_LEAST, STALL = 0.98, 0.5  # of the offered rate: over all, and in each window
LONG_LIFE = 120  # s, after which the memory of a process is judged
MEMORY_GROWS = 16  # MiB from the first half to the end, at most: a process has all that it needs after some minutes
UNCOMMITTED = 3  # s: what was done so long before a kill is committed, where commit.interval is a second
MINUTE = 60


def length(text):
    """Seconds of a text such as 90s or 30m."""
    return float(text[:-1]) * {"s": 1, "m": MINUTE}[text[-1]]


class Proof:
    """`every`: s between two samples."""

    def __init__(self, run, seconds, every):
        self.run, self.seconds, self.every = run, seconds, every
        self.acts, self.moments, self.undone = [], {}, []
        self.writers = {}  # kind of records -> the process that writes them, with acknowledgements of its own
        self.samples, self.memory = [], []  # [(time, ends, committed)], [(time, name of the service, MiB)]
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.sample_on, daemon=True)

    def write(self, kind, rate, *options):
        """Records of this kind, until the end."""
        folder = self.run.folder / kind
        folder.mkdir()
        self.writers[kind] = Writers(self.run.cluster, folder)
        self.writers[kind].start("produce", self.run.topic, "--rate", rate, *options)

    def finish_writing(self):
        for writers in self.writers.values():
            writers.finish()
        self.moment("end")

    def drain(self, topics, within):
        """Waits until the group has no lag in these topics; what is left then is told after the figures."""
        try:
            self.run.wait_for_no_lag(topics, within)
        except Failed as failure:
            self.undone.append(str(failure))
        self.moment("drained")

    def offered(self, kinds):
        """{place: time} of the acknowledged records of these kinds."""
        found = {}
        for kind in kinds:
            with open(self.writers[kind].acks, encoding="utf-8") as lines:
                for fields in map(json.loads, lines):
                    found[fields["topic"], fields["partition"], fields["offset"]] = fields["time"]
        return found

    def begin(self):
        self.moment("begin")
        self.thread.start()

    def end(self):
        """Samples nothing more. It may be called again."""
        self.stopping.set()
        if self.thread.ident:
            self.thread.join(MINUTE)

    def moment(self, name):
        self.moments[name] = time.time_ns()

    def clock(self, moment):
        return f"{(moment - self.moments['begin']) / SECOND:.0f} s"

    def until(self, part):
        """Returns when this part of the length is over."""
        moment = self.moments["begin"] + int(part * self.seconds * SECOND)
        wait_until(f"{part:.0%} of the time is over", lambda: time.time_ns() >= moment, within=self.seconds + MINUTE)

    @contextlib.contextmanager
    def act(self, name, down=False):
        """`down`: nobody is there meanwhile."""
        begin = time.time_ns()
        yield
        self.acts.append(Act(name, begin, time.time_ns(), down))
        print(f"{self.clock(begin)} to {self.clock(time.time_ns())}: {name}", flush=True)

    def has_lanes(self, count, *services):
        """Waits until these services have so many partitions of the run's topic."""
        wait_until(f"{count} lanes are assigned", lambda: sum(
            lane["topic"] == self.run.topic for service in services for lane in json.loads(service.get("/status"))["lanes"]) == count)

    def sample_on(self):
        while not self.stopping.wait(self.every):
            with contextlib.suppress(Failed):
                self.sample()

    def sample(self):
        ends = {place: end for place, (_, end) in self.run.watermarks().items()}
        self.samples.append((time.time_ns(), ends, dict(self.run.committed())))
        for service in filter(lambda one: one.running(), self.run.services):  # another process may have the number of one that ended
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, StopIteration):
                self.memory.append((time.time_ns(), service.name, resident(service.process.pid)))


def resident(pid):
    """MiB of a running process."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def told_rates(proof, flows):
    begin, end = proof.moments["begin"], proof.moments["end"]
    print(f"{'':<10}{'offered':>9}{'delivered':>11}{'delivered/offered':>19}{'slowest 10 s':>14}{'longest gap (s)':>17}")
    for flow in flows:
        slowest = min((ratio for at, ratio in flow.windows(begin, end) if not touched(at, at + WINDOW, proof.acts)), default=1)
        print(f"{flow.name:<10}{len(flow.offered):>9,}{len(flow.first):>11,}{flow.ratio(begin, end):>19.3f}{slowest:>14.2f}"
              f"{flow.longest_gap(begin, end, proof.acts):>17.1f}")
    print_series(proof, flows, begin, end)
    for flow in flows:
        if flow.ratio(begin, end) < AT_LEAST:
            yield f"{flow.name} got {flow.ratio(begin, end):.1%} of what was offered while it was"
        for at, ratio in stalls(flow, begin, end, proof.acts, STALL):
            yield f"{flow.name} got {ratio:.0%} of what was offered in the 10 s from {proof.clock(at)}"


def print_series(proof, flows, begin, end):
    """All flows in each window, and the slowest of them."""
    print("delivered / offered in each 10 s, of all living ones (of the slowest one); * while nobody was there:")
    words = []
    for row in zip(*(flow.windows(begin, end) for flow in flows)):
        ratios = [ratio for _, ratio in row]
        mark = "*" if touched(row[0][0], row[0][0] + WINDOW, proof.acts) else ""
        words.append(f"{statistics.mean(ratios):.2f}({min(ratios):.2f}){mark}")
    for place in range(0, len(words), 10):
        print(f"{place * 10:>6} s  {' '.join(words[place:place + 10])}")


def told_repeats(proof, flows, kill, rate, probes, uncommitted=UNCOMMITTED):
    """`kill`: the name of the act that may repeat what was not committed: of `rate` deliveries a second those of `uncommitted` seconds;
    besides it, for each flow, as many records as there are `probes`, each of which waits for somebody who is out."""
    found = by_act(flows, proof.acts)
    for act in [Act("no act", 0, 0), *proof.acts]:
        repeats = found[act.name]
        print(f"{len(repeats)} deliveries were repeated after: {act.name}")
        if act.name != kill:
            if repeats:
                yield f"{len(repeats)} deliveries were repeated after: {act.name}: {repeats[:3]}"
            continue
        early = {identity for _, identity, _, first in repeats if first < act.begin - uncommitted * SECOND}
        most = max(Counter(name for name, *_ in repeats).values(), default=0)
        print(f"{most} of them to one receiver at most; {len(early)} events of them had been delivered more than {uncommitted} s before")
        if len(early) > probes:
            yield f"{len(early)} events that were delivered more than {uncommitted} s before the kill came again: {sorted(early)[:5]}"
        if len(repeats) > uncommitted * rate + probes * len(flows):
            yield f"{len(repeats)} deliveries were repeated after a kill: more than those of {uncommitted} s"


def told_commits(proof):
    """Within a minute of the end of the log, but for the time when nobody is there, and the same time again to catch up."""
    found = behind(proof.samples)
    absences = [act._replace(end=2 * act.end - act.begin) for act in proof.acts]
    calm = [(at, seconds) for at, seconds in found if not touched(at, at + 1, absences)]
    print(f"committed: {statistics.median(seconds for _, seconds in calm):.1f} s (median), {max(seconds for _, seconds in calm):.1f} s "
          f"(at most) behind the end of the log; {max(seconds for _, seconds in found):.1f} s also after nobody was there")
    at, seconds = max(calm, key=lambda one: one[1])
    if seconds > MINUTE:
        yield f"commits were {seconds:.0f} s behind at {proof.clock(at)}"


def told_memory(proof):
    for name in dict.fromkeys(name for _, name, _ in proof.memory):
        own = [mib for _, of, mib in proof.memory if of == name]
        third = max(1, len(own) // 3)
        early, late = statistics.median(own[third // 2:third // 2 + third]), statistics.median(own[-third:])
        print(f"memory of {name}: {own[0]:.0f} MiB at first, {early:.0f} in the first half, {late:.0f} at the end, {max(own):.0f} at most")
        times = [at for at, of, _ in proof.memory if of == name]
        if late > early + MEMORY_GROWS and times[-1] - times[0] > LONG_LIFE * SECOND:
            yield f"the memory of {name} grew from {early:.0f} to {late:.0f} MiB"


def told_completeness(proof, flows):
    yield from proof.undone
    for flow in flows:
        if flow.missing or flow.strange:
            yield f"{flow.name} lacks {len(flow.missing)} events, and got {len(flow.strange)} that it did not want"
