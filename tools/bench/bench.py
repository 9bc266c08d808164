"""The benchmark under way: builds the programs, runs them on a Kafka, and keeps their output and the results."""
import contextlib
import json
import os
import shlex
import subprocess
from pathlib import Path
from statistics import median

from ..failure import Failure

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ["lane_bench", "bare_loop", "http_server", "http_threads", "pipe_ping_pong", "sleepers", "kafka_tool", "pool_bench", "pools",
           "plugin_nothing", "plugin_slow", "laneway"]
PARTITIONS = 16
VALUE_BYTES = 200
KEYS = 10000
WORK_SECONDS = 0.010  # of each record, where it takes any


def run(*command, **options):
    command = [str(part) for part in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


class Bench:
    """Runs the programs and keeps their output."""

    def __init__(self, options, client, of_several=False):
        self.client, self.name = client, f" ({client})" if of_several else ""
        self.build_folder = options.build if client == "bundled" else options.build / client
        self.repeat, self.records = options.repeat, options.records
        self.before = options.before
        self.bootstrap = None
        self.topics, self.runs, self.rows = set(), [], []
        self.groups = 0

    def build(self, targets):
        print(f"building with the {self.client} client", flush=True)
        run("cmake", "-S", ROOT, "--preset", "release", "-B", self.build_folder, f"-DLANEWAY_LIBRDKAFKA={self.client}")
        run("ninja", "-C", self.build_folder, *targets)

    @contextlib.contextmanager
    def kafka(self):
        kafka = [ROOT / "scripts/kafka", "--dir", self.build_folder / "bench-kafka"]
        run(*kafka, "wipe")
        self.bootstrap = run(*kafka, "start", "--while", os.getpid()).strip()
        try:
            yield
        finally:
            run(*kafka, "wipe")

    def tool(self, *arguments):
        lines = run(self.build_folder / "integration/kafka_tool/kafka_tool", "--bootstrap", self.bootstrap, *arguments)
        return [json.loads(line) for line in lines.splitlines()]

    def share(self, other):
        """The Kafka of another one, with its topics; groups are apart."""
        self.bootstrap, self.topics = other.bootstrap, other.topics

    def topic(self, name, partitions, records=0, keys=KEYS):
        """Created and filled once."""
        if name not in self.topics:
            print(f"topic {name}: {partitions} partitions, {records} records", flush=True)
            self.tool("create", name, partitions)
            if records:
                self.tool("produce", name, "--count", records, "--size", VALUE_BYTES, "--keys", keys)
            self.topics.add(name)
        return name

    def full_topic(self):
        return self.topic("full", PARTITIONS, self.records)

    def group(self):
        self.groups += 1
        return f"bench-{self.client}-{self.groups}"

    def measure(self, program, topic, *arguments, group=None, build=None):
        command = [(build or self.build_folder) / "integration/bench" / program, "--bootstrap", self.bootstrap, "--topic", topic,
                   "--group", group or self.group(), *arguments]
        result = json.loads(run(*command))
        self.runs.append({"command": shlex.join(map(str, [program, *arguments])), "build": str(build or self.build_folder), **result})
        figures = " ".join(f"{name}={value:.6g}" for name, value in result.items() if name != "case")
        print(f"  {program} {' '.join(map(str, arguments))}: {figures}", flush=True)
        return result

    def bare(self):
        return self.measure("bare_loop", self.full_topic(), "--records", self.records)

    def lane(self, verb, *arguments, build=None):
        return self.measure("lane_bench", self.full_topic(), verb, *arguments, build=build)

    def alone(self, program, *arguments):
        """A program of integration/bench that needs no Kafka."""
        result = json.loads(run(self.build_folder / "integration/bench" / program, *arguments))
        self.runs.append({"command": shlex.join(map(str, [program, *arguments])), **result})
        print(f"  {program}: " + " ".join(f"{name}={value:.6g}" for name, value in result.items()), flush=True)
        return result

    def benchmarks(self, which):
        """The medians of the figures of tests/pool_bench."""
        output = run(self.build_folder / "tests/pool_bench", f"--benchmark_filter={which}", "--benchmark_format=json",
                     f"--benchmark_repetitions={max(2, self.repeat)}", "--benchmark_report_aggregates_only=true")
        medians = [one for one in json.loads(output)["benchmarks"] if one["aggregate_name"] == "median"]
        self.runs.extend(medians)
        return medians

    def sleepers(self, threads):
        """The share of the ideal that this machine reaches: it may wake threads late."""
        return self.alone("sleepers", "--threads", threads, "--work", int(WORK_SECONDS * 1000), "--seconds", 5)

    def row(self, case, figure, target, passed, runs=(), ratio=None):
        """`runs`: laneway's, whose processor time and memory stand beside the figure."""
        middle = {key: median(one[key] for one in runs) for key in ("cpu_us", "peak_mib") if runs and key in runs[0]}
        self.rows.append({"case": case + self.name, "figure": figure, "ratio": ratio, "cpu_us": middle.get("cpu_us"),
                          "peak_mib": middle.get("peak_mib"), "target": target, "passed": passed})
