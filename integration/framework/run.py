"""One scenario's surroundings: a folder, a Kafka, writers, services, and the evidence for the judgement.

A Run is a context: it starts its Kafka, or finds the one that it shares, and cleans up whatever happens. It has one topic and
one group, which most of its methods mean; a story may name others. LANEWAY_KEEP=1 keeps the folder.
"""
import json
import os
import shutil
import tempfile
from pathlib import Path

from example_service import ExampleService
from judgement import Judgement
from kafka_cluster import KafkaCluster
from service import Service
from service_settings import GROUP_PROTOCOL, Sessions, merged, usual
from waits import PATIENCE, expect, wait_until
from writers import Writers


class Run:
    def __init__(self, name, own_kafka=False, nodes=1, secured=False, broker=(), access=False, cluster=None):
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix=f"laneway-{name}-"))
        self.cluster = cluster or KafkaCluster.for_run(self.folder / "kafka", own_kafka, nodes, secured, broker, access)
        self.writing = Writers(self.cluster, self.folder)
        self.judgement = Judgement(self.cluster)
        self.sessions = Sessions()
        self.group_protocol = GROUP_PROTOCOL
        self.services = []
        self.topic = f"{name}-{os.getpid()}"
        self.group = f"{name}-{os.getpid()}"

    def part(self, name):
        """The surroundings of another story, on the same Kafka."""
        return Run(name, cluster=self.cluster.borrowed())

    def __enter__(self):
        try:
            self.cluster.start()
        except BaseException:
            self.clean_up()
            raise
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.tell()
        self.clean_up()

    def tell(self):
        """Prints what a person needs to find the cause of a failure."""
        def show_end(file, lines):
            print(f"--- the end of {file.name}")
            print("\n".join(file.read_text(errors="replace").splitlines()[-lines:]))
        for file in sorted(self.folder.glob("*.log")):
            show_end(file, 60)
        for file in sorted(self.kafka_dir.glob("node-*/server.log")):
            show_end(file, 30)

    def clean_up(self):
        self.judgement.stop_sampling()
        for process in [service.process for service in self.services] + self.writers:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.cluster.wipe_if_owned()
        if not os.environ.get("LANEWAY_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

    # The Kafka.

    @property
    def kafka_dir(self):
        return self.cluster.folder

    @property
    def bootstrap(self):
        """Where services are to come."""
        return self.cluster.bootstrap

    @property
    def admin_bootstrap(self):
        """The addresses without a login; a story may name fewer brokers for a while."""
        return self.cluster.admin_bootstrap

    @admin_bootstrap.setter
    def admin_bootstrap(self, addresses):
        self.cluster.admin_bootstrap = addresses

    @property
    def only_plain(self):
        """Where a secured Kafka asks."""
        return self.cluster.only_plain

    def kafka(self, *arguments):
        return self.cluster.command(*arguments)

    @property
    def parking(self):
        """The retry topics of a service with pools, as they are without retry.topics."""
        return [f"{self.topic}-{self.group}-retry-{delay}" for delay in ("10s", "1m", "10m")]

    # The content of Kafka.

    def tool(self, *arguments, text=""):
        """The lines that kafka_tool prints; it reads `text`."""
        return self.cluster.tool(*arguments, text=text)

    def create(self, partitions, *settings, topic=None):
        self.tool("create", topic or self.topic, partitions, *settings)

    def write(self, records, topic=None):
        """Writes records as kafka_tool read prints them."""
        self.tool("write", topic or self.topic, text="".join(json.dumps(record) + "\n" for record in records))

    @property
    def writers(self):
        """The processes; they end with the run."""
        return self.writing.processes

    def produce(self, *options, topic=None, verb="produce"):
        """Returns when all is acknowledged: how many records."""
        return self.writing.produce(verb, topic or self.topic, *options)

    def produce_meanwhile(self, *options, topic=None, verb="produce"):
        """Starts a process that goes on writing, without --count until finish_writing."""
        self.writing.start(verb, topic or self.topic, *options)

    def finish_writing(self, within=PATIENCE):
        self.writing.finish(within)

    def committed(self, topics=None):
        """{(topic, partition): offset} as the broker says now; also kept as evidence."""
        return self.judgement.committed(self.group, topics or [self.topic])

    def watermarks(self, topics=None):
        """{(topic, partition): (low, end)}"""
        found = {}
        for topic in topics or [self.topic]:
            for line in map(json.loads, self.tool("watermarks", topic)):
                found[topic, line["partition"]] = (line["low"], line["end"])
        return found

    def members(self):
        return json.loads(self.tool("members", self.group)[0])

    # The service.

    def settings(self, name, **changes):
        settings = merged(usual(self, name), changes)
        if self.group_protocol == "consumer":
            self.sessions.leave_to_brokers(settings["kafka"], self.admin_bootstrap.split(",")[0])
        return settings

    def service(self, name, arguments=(), environment=None, program=None, **changes):
        service = Service(self, name, arguments, self.settings(name, **changes), environment, program)
        self.services.append(service)
        return service

    def example(self, name, config, **changes):
        """`laneway run` with a file of config/examples, this run's topic and group, and these --set."""
        service = ExampleService(self, name, config, changes)
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

    @property
    def evidence(self):
        return self.judgement.evidence

    def watch_commits(self, every=0.5, topics=None):
        """Records the committed offsets as evidence, repeatedly until the judgement."""
        self.judgement.sample(lambda: self.committed(topics), every)

    def keep_copies(self, outcome, topics):
        """Keeps the content of these topics as evidence of the records that ended with this outcome."""
        self.judgement.keep_copies(outcome, topics)

    def judge(self, promises, topics=None, letters=(), retries=(), show=True):
        """The oracle's report, printed where `show`; Failed when it has found a violation. Call it once, when all processes have
        ended.

        `letters` and `retries`: the dead-letter and retry topics, which are then compared with `topics`.
        """
        self.judgement.stop_sampling()
        self.judgement.add_journals(self.services)
        self.judgement.add_topics(topics or [self.topic], with_records=bool(letters))
        self.judgement.keep_copies("dead_letter", letters)
        self.judgement.keep_copies("retry_topic", retries)
        self.judgement.add_acknowledgements(self.writing.acks)
        self.committed(topics)
        return self.judgement.report(promises, show)
