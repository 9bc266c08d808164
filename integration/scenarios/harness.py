"""What the scenarios stand on: a Kafka, kafka_tool, `laneway run` processes, waits with deadlines, and the oracle.

A scenario is a function of a Run; main() runs it, prints what it found, and cleans up whatever happens. The programs come
from LANEWAY and KAFKA_TOOL (ctest sets them). LANEWAY_KAFKA_DIR names a running cluster to share; without it, or when the
scenario wants to harm its Kafka, it starts one of its own. LANEWAY_THREE_KAFKAS_DIR is the same for those that need three
brokers: they leave them as they were, and have them for themselves meanwhile; LANEWAY_ACCESS_KAFKA_DIR for those that need a
Kafka with every way to log in (scripts/kafka --access). LANEWAY_GROUP_PROTOCOL=consumer has all members join their groups by that
protocol (KIP-848).
"""
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "integration" / "oracle"))
sys.path.append(str(ROOT / "integration" / "faults"))
import checks  # noqa: E402
import oracle  # noqa: E402
import wire  # noqa: E402
from evidence import Evidence  # noqa: E402
from service import LANEWAY, Service, die_with_parent, inherited_environment  # noqa: E402,F401
from waits import PATIENCE, Failed, expect, expect_equal, wait_until  # noqa: E402,F401

KAFKA = ROOT / "scripts" / "kafka"
KAFKA_TOOL = os.environ.get("KAFKA_TOOL", str(ROOT / "build" / "integration" / "kafka_tool" / "kafka_tool"))
Promises = checks.Promises
GROUP_PROTOCOL = os.environ.get("LANEWAY_GROUP_PROTOCOL", "classic")  # or consumer: the brokers distribute the partitions
LEFT_TO_BROKERS = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")  # under consumer
SHORT_SESSION = {"session.timeout.ms": 10000}  # who is killed has its partitions for no longer than that


def merged(base, changes):
    """`base` with `changes` laid over it, map by map; None takes a key out."""
    result = dict(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


class Run:
    """One scenario's surroundings."""

    def __init__(self, name, own_kafka=False, nodes=1, secured=False, broker=(), access=False):
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix=f"laneway-{name}-"))
        self.services, self.writers, self.endless_writers, self.sampler = [], [], [], None
        self.evidence = Evidence()
        self.lock = threading.Lock()
        self.sessions = {}  # of groups, where the brokers keep them
        shared = os.environ.get("LANEWAY_THREE_KAFKAS_DIR" if nodes == 3 else
                                "LANEWAY_ACCESS_KAFKA_DIR" if access else "LANEWAY_KAFKA_DIR")
        self.owns_kafka = own_kafka or not shared
        self.kafka_dir = self.folder / "kafka" if self.owns_kafka else Path(shared)
        self.topic = f"{name}-{os.getpid()}"
        self.group = f"{name}-{os.getpid()}"
        self.nodes, self.secured, self.access = nodes, secured, access
        self.broker = broker  # KEY=VALUE, of a Kafka of its own

    def part(self, name):
        """The surroundings of another story, on the same Kafka."""
        part = Run(name)
        part.kafka_dir, part.owns_kafka = self.kafka_dir, False
        return part

    def __enter__(self):
        try:
            more = ["--nodes", str(self.nodes), "--while", str(os.getpid())] if self.owns_kafka else []
            more += ["--secured"] if self.secured and self.owns_kafka else []
            more += ["--access"] if self.access and self.owns_kafka else []
            more += [word for setting in self.broker for word in ("--config", setting)]
            self.only_plain = self.kafka("start", *more).strip()
            self.admin_bootstrap = re.search(r"KAFKA_ADMIN_BOOTSTRAP=(\S+)", self.kafka("env"))[1]
            # A shared Kafka is secured for those that need it, and has an open door for the others.
            self.bootstrap = self.only_plain if self.secured else self.admin_bootstrap
        except BaseException:
            self.clean_up()
            raise
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.tell()
        self.clean_up()

    def tell(self):
        """What a person needs to find out why it failed."""
        for file in sorted(self.folder.glob("*.log")):
            print(f"--- the end of {file.name}")
            print("\n".join(file.read_text(errors="replace").splitlines()[-60:]))

    def clean_up(self):
        if self.sampler:
            self.sampler.stop()
        for process in [service.process for service in self.services] + self.writers:
            if process.poll() is None:
                process.kill()
                process.wait()
        if self.owns_kafka and self.kafka_dir.exists():
            self.kafka("wipe")
        if not os.environ.get("LANEWAY_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def kafka(self, *arguments):
        done = subprocess.run([sys.executable, str(KAFKA), "--dir", str(self.kafka_dir), *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240)
        expect(done.returncode == 0, f"scripts/kafka {' '.join(arguments)} failed: {done.stderr}")
        return done.stdout

    # What there is in Kafka.

    def tool(self, *arguments, text=""):
        """The lines that kafka_tool prints; it reads `text`."""
        done = subprocess.run([KAFKA_TOOL, "--bootstrap", self.admin_bootstrap, *map(str, arguments)], text=True, input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240)
        expect(done.returncode == 0, f"kafka_tool {' '.join(map(str, arguments))} failed: {done.stderr}")
        return done.stdout.splitlines()

    def create(self, partitions, *settings, topic=None):
        self.tool("create", topic or self.topic, partitions, *settings)

    def produce(self, *options, topic=None, verb="produce"):
        """Returns when all is acknowledged: how many records."""
        lines = self.tool(verb, topic or self.topic, "--acks-file", self.acks(), *options)
        return json.loads(lines[-1])["acknowledged"]

    def write(self, records, topic=None):
        """Writes records as kafka_tool read prints them."""
        self.tool("write", topic or self.topic, text="".join(json.dumps(record) + "\n" for record in records))

    def produce_meanwhile(self, *options, topic=None, verb="produce"):
        """Starts a process that goes on writing, without --count until finish_writing."""
        log = open(self.folder / f"writer-{len(self.writers)}.log", "wb")
        with log:
            writer = subprocess.Popen([KAFKA_TOOL, "--bootstrap", self.admin_bootstrap, verb, topic or self.topic,
                                       "--acks-file", self.acks(), *map(str, options)], stdout=log, stderr=log,
                                      preexec_fn=die_with_parent)
        self.writers.append(writer)
        if "--count" not in options:
            self.endless_writers.append(writer)

    def finish_writing(self, within=PATIENCE):
        for writer in self.endless_writers:
            writer.terminate()
        for writer in self.writers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                writer.wait(within)
            expect_equal(0, writer.returncode, "exit code of a writer")

    def acks(self):
        return str(self.folder / "acknowledged")

    def committed(self, topics=None):
        """{(topic, partition): offset} as the broker says now; also kept as evidence."""
        with self.lock:
            lines = self.tool("committed", self.group, *(topics or [self.topic]))
            self.evidence.add_commits(lines, time.time_ns())
            return self.evidence.last_commits()

    def watermarks(self, topics=None):
        """{(topic, partition): (low, end)}"""
        found = {}
        for topic in topics or [self.topic]:
            for line in map(json.loads, self.tool("watermarks", topic)):
                found[topic, line["partition"]] = (line["low"], line["end"])
        return found

    def members(self):
        return json.loads(self.tool("members", self.group)[0])

    def watch_commits(self, every=0.5, topics=None):
        """From now on, also in between, the committed offsets become evidence."""
        self.sampler = Sampler(lambda: self.committed(topics), every)

    # The service.

    def settings(self, name, **changes):
        base = {
            "kafka": {"bootstrap.servers": self.bootstrap, "group.id": self.group},
            "topics": [self.topic],
            "handler": {"simulate": {"sleep": "1ms"}},
            "lanes": {"drain": "30s"},  # it ends as soon as it can: more is only patience with a busy machine
            "commit": {"interval": "500ms"},
            "journal": {"file": str(self.folder / f"{name}.journal")},
            "admin": {"listen": "127.0.0.1:0"},
            "log": {"level": "info"},
        }
        settings = merged(base, changes)
        if GROUP_PROTOCOL == "consumer":
            self.leave_to_brokers(settings["kafka"])
        return settings

    def leave_to_brokers(self, kafka):
        """What a member of the other protocol decides itself is the group's, or the brokers' (scripts/kafka)."""
        kafka["group.protocol"] = "consumer"
        decided = {key: kafka.pop(key) for key in LEFT_TO_BROKERS if key in kafka}
        session = {kafka["group.id"]: decided.get("session.timeout.ms")}
        if any(session.values()) and not session.items() <= self.sessions.items():
            self.sessions.update(session)
            wire.configure_group(self.admin_bootstrap.split(",")[0], kafka["group.id"],
                                 consumer_session_timeout_ms=decided["session.timeout.ms"])

    def service(self, name, arguments=(), environment=None, program=None, **changes):
        service = Service(self, name, arguments, self.settings(name, **changes), environment, program)
        self.services.append(service)
        return service

    def command(self, name, *arguments, environment=None):
        """laneway with just these arguments."""
        service = Service(self, name, arguments, environment=environment)
        self.services.append(service)
        return service

    def wait_for_progress(self, service, records, within=PATIENCE):
        def reached():
            expect(service.running(), f"{service.name} ended with {service.process.returncode}")
            return service.processed() >= records
        wait_until(f"{service.name} has processed {records}", reached, within)

    def has_no_lag(self, topics=None):
        """Whether the committed offsets are the ends of the log."""
        committed = self.committed(topics)
        return all(committed.get(partition) == end for partition, (low, end) in self.watermarks(topics).items() if end > low)

    def wait_for_no_lag(self, topics=None, within=PATIENCE):
        ends = {}

        def caught_up():
            for service in self.services:
                expect(service.process.poll() in (None, 0, -9, 75), f"{service.name} ended with {service.process.returncode}")
            committed = self.committed(topics)
            # The ends are asked for anew only when the last known ones are reached: most often it is not even that far.
            if all(committed.get(partition, 0) >= end for partition, end in ends.items()):
                ends.update({partition: end for partition, (low, end) in self.watermarks(topics).items() if end > low})
            return all(committed.get(partition) == end for partition, end in ends.items())
        wait_until("the group has no lag", caught_up, within, every=0.3)

    # The judgement.

    def keep_copies(self, outcome, topics):
        """What is in these topics now is evidence of where records went that ended with this outcome."""
        for topic in topics:
            self.evidence.add_copies(outcome, topic, self.tool("read", topic))

    def judge(self, promises, topics=None, letters=(), retries=(), show=True):
        """The oracle's report, printed where `show`; Failed when it has found a violation. Call it once, when all processes have
        ended.

        `letters` and `retries`: the dead-letter and retry topics, which are then compared with `topics`.
        """
        if self.sampler:
            self.sampler.stop()
        for service in self.services:
            if service.journal.is_file():
                with open(service.journal, encoding="utf-8", newline="") as lines:
                    self.evidence.add_journal(lines, service.name)
        for topic in topics or [self.topic]:
            self.evidence.add_log(self.tool("dump", topic, "--read-committed"))
            if letters:
                self.evidence.add_records(topic, self.tool("read", topic))
        self.keep_copies("dead_letter", letters)
        self.keep_copies("retry_topic", retries)
        with contextlib.suppress(FileNotFoundError), open(self.acks(), encoding="utf-8") as lines:
            self.evidence.add_acknowledgements(lines)
        self.committed(topics)
        report = oracle.judge(self.evidence, promises)
        if show or report["violations"]:
            print(json.dumps(report, indent=1))
        expect(not report["violations"], "the oracle found violations: " + ", ".join(report["violations"]))
        return report


class Sampler:
    """Calls a function again and again in a thread of its own. A call that fails is left out: Kafka may be down."""

    def __init__(self, function, every):
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work, args=(function, every), daemon=True)
        self.thread.start()

    def work(self, function, every):
        while not self.stopping.wait(every):
            with contextlib.suppress(Failed, subprocess.SubprocessError):
                function()

    def stop(self):
        self.stopping.set()
        self.thread.join(60)


def at_once(run, cases):
    """Calls each of these functions of a Run in a thread of its own: they wait most of the time. Tells of all that fail."""
    def failure_of(case):
        started = time.monotonic()
        try:
            case(run)
        except Failed as failure:
            return f"{case.__name__}: {failure}"
        print(f"{case.__name__}: passed in {time.monotonic() - started:.1f} s")
        return None
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as threads:
        failures = list(filter(None, threads.map(failure_of, cases)))
    expect(not failures, "\n".join(failures))


def main(name, scenario, own_kafka=False, nodes=1, secured=False, broker=(), access=False):
    """Runs one scenario and ends the program: 0 passed, 1 failed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that ctest's time-out cleans up, too
    started = time.monotonic()
    try:
        with Run(name, own_kafka, nodes, secured, broker, access) as run:
            scenario(run)
    except Failed as failure:
        traceback.print_exc()
        print(f"{name}: FAILED: {failure}")
        sys.exit(1)
    print(f"{name}: passed in {time.monotonic() - started:.1f} s")
