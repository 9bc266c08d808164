"""What the scenarios stand on: a Kafka, kafka_tool, `laneway run` processes, waits with deadlines, and the oracle.

A scenario is a function of a Run; main() runs it, prints what it found, and cleans up whatever happens. The programs come
from LANEWAY and KAFKA_TOOL (ctest sets them). LANEWAY_KAFKA_DIR names a running cluster to share; without it, or when the
scenario wants to harm its Kafka, it starts one of its own.
"""
import contextlib
import ctypes
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
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "integration" / "oracle"))
import checks  # noqa: E402
import oracle  # noqa: E402
from evidence import Evidence  # noqa: E402

KAFKA = ROOT / "scripts" / "kafka"
LANEWAY = os.environ.get("LANEWAY", str(ROOT / "build" / "app" / "laneway"))
KAFKA_TOOL = os.environ.get("KAFKA_TOOL", str(ROOT / "build" / "integration" / "kafka_tool" / "kafka_tool"))
Promises = checks.Promises
PR_SET_PDEATHSIG = 1
PATIENCE = 120.0  # s: a machine may be slow, and a test that waits longer costs nothing when it passes
SHORT_SESSION = {"session.timeout.ms": 10000}  # who is killed has its partitions for no longer than that


class Failed(Exception):
    """The service did not do what the scenario asks for."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def expect_equal(expected, found, what):
    expect(expected == found, f"{what}: expected {expected!r}, found {found!r}")


def wait_until(what, condition, within=PATIENCE, every=0.1):
    """The first true value of `condition`; Failed when there is none within so many seconds."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"not within {within:.0f} s: {what}")
        time.sleep(every)


def die_with_parent():
    """In the child, before exec: nothing stays behind when a test is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def inherited_environment():
    """Without the test's own variables, which would be settings that laneway does not know."""
    return {key: value for key, value in os.environ.items() if not key.startswith("LANEWAY_")}


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


class Service:
    """One laneway process: `run` with `settings`, or, without them, just the arguments."""

    def __init__(self, run, name, arguments, settings=None, environment=None):
        self.name, self.settings = name, settings
        self.journal = Path(settings["journal"]["file"] if settings else "")
        self.log_file = run.folder / f"{name}.log"
        if settings:
            file = run.folder / f"{name}.yaml"
            file.write_text(json.dumps(settings, indent=1))  # JSON is YAML
            arguments = ["run", "-c", str(file), *arguments]
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen([LANEWAY, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=die_with_parent, env={**inherited_environment(), **(environment or {})})

    @property
    def log(self):
        return self.log_file.read_text(errors="replace")

    def events(self, message):
        """The log's lines with this message."""
        pattern = re.compile(rf'msg="?{re.escape(message)}"?( |$)')
        return [line for line in self.log.splitlines() if pattern.search(line)]

    def running(self):
        return self.process.poll() is None

    def url(self):
        def listening():
            expect(self.running(), f"{self.name} ended with {self.process.returncode} before it listened")
            return re.search(r'msg="admin listening".* address="?([^"\s]+)', self.log)
        return "http://" + wait_until(f"{self.name} listens", listening).group(1)

    def get(self, path):
        with urllib.request.urlopen(self.url() + path, timeout=10) as answer:
            return answer.read().decode()

    def metric(self, name, **labels):
        """The sum of the series with these labels."""
        total = 0.0
        for line in self.get("/metrics").splitlines():
            found = re.fullmatch(r"laneway_(\w+)(?:\{(.*)\})? (\S+)", line)
            if found and found[1] == name:
                have = dict(re.findall(r'(\w+)="([^"]*)"', found[2] or ""))
                if all(have.get(label) == str(value) for label, value in labels.items()):
                    total += float(found[3])
        return total

    def processed(self):
        """Successes so far, as its journal says."""
        if not self.journal.exists():
            return 0
        return self.journal.read_bytes().count(b'"outcome":"success"')

    def peak_memory(self):
        """Bytes of resident memory at the most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, within):
        """The exit code."""
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} had not ended after {within:.0f} s") from None

    def stop(self, code=0):
        """SIGTERM; the exit must come within the drain deadline and 5 s."""
        self.signal(signal.SIGTERM)
        drain = float(self.settings["lanes"]["drain"].removesuffix("s"))
        expect_equal(code, self.wait(drain + 5), f"exit code of {self.name} after SIGTERM")

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()


class Run:
    """One scenario's surroundings."""

    def __init__(self, name, own_kafka=False, nodes=1, secured=False):
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix=f"laneway-{name}-"))
        self.services, self.writers, self.endless_writers, self.sampler = [], [], [], None
        self.evidence = Evidence()
        self.lock = threading.Lock()
        shared = os.environ.get("LANEWAY_KAFKA_DIR")
        self.owns_kafka = own_kafka or not shared
        self.kafka_dir = self.folder / "kafka" if self.owns_kafka else Path(shared)
        self.topic = f"{name}-{os.getpid()}"
        self.group = f"{name}-{os.getpid()}"
        self.nodes, self.secured = nodes, secured

    def __enter__(self):
        try:
            more = ["--nodes", str(self.nodes), "--while", str(os.getpid())] if self.owns_kafka else []
            more += ["--secured"] if self.secured else []
            self.bootstrap = self.kafka("start", *more).strip()
            self.admin_bootstrap = re.search(r"KAFKA_ADMIN_BOOTSTRAP=(\S+)", self.kafka("env"))[1]
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

    def produce_meanwhile(self, *options, topic=None):
        """Starts a process that goes on writing, without --count until finish_writing."""
        log = open(self.folder / f"writer-{len(self.writers)}.log", "wb")
        with log:
            writer = subprocess.Popen([KAFKA_TOOL, "--bootstrap", self.admin_bootstrap, "produce", topic or self.topic,
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
            "lanes": {"drain": "10s"},
            "commit": {"interval": "500ms"},
            "journal": {"file": str(self.folder / f"{name}.journal")},
            "admin": {"listen": "127.0.0.1:0"},
            "log": {"level": "info"},
        }
        return merged(base, changes)

    def service(self, name, arguments=(), environment=None, **changes):
        service = Service(self, name, arguments, self.settings(name, **changes), environment)
        self.services.append(service)
        return service

    def command(self, name, *arguments):
        """laneway with just these arguments."""
        service = Service(self, name, arguments)
        self.services.append(service)
        return service

    def wait_for_progress(self, service, records, within=PATIENCE):
        def reached():
            expect(service.running(), f"{service.name} ended with {service.process.returncode}")
            return service.processed() >= records
        wait_until(f"{service.name} has processed {records}", reached, within)

    def wait_for_no_lag(self, topics=None, within=PATIENCE):
        """Until the committed offsets are the ends of the log."""
        def caught_up():
            for service in self.services:
                expect(service.process.poll() in (None, 0, -9, 75), f"{service.name} ended with {service.process.returncode}")
            committed = self.committed(topics)
            return all(committed.get(partition) == end for partition, (low, end) in self.watermarks(topics).items()
                       if end > low)
        wait_until("the group has no lag", caught_up, within, every=0.3)

    # The judgement.

    def keep_copies(self, outcome, topics):
        """What is in these topics now is evidence of where records went that ended with this outcome."""
        for topic in topics:
            self.evidence.add_copies(outcome, topic, self.tool("read", topic))

    def judge(self, promises, topics=None, letters=(), retries=()):
        """The oracle's report; Failed when it has found a violation. Call it once, when all processes have ended.

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


def main(name, scenario, own_kafka=False, nodes=1, secured=False):
    """Runs one scenario and ends the program: 0 passed, 1 failed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that ctest's time-out cleans up, too
    started = time.monotonic()
    try:
        with Run(name, own_kafka, nodes, secured) as run:
            scenario(run)
    except Failed as failure:
        traceback.print_exc()
        print(f"{name}: FAILED: {failure}")
        sys.exit(1)
    print(f"{name}: passed in {time.monotonic() - started:.1f} s")
