"""Where a demo plays: a folder, a Kafka, processes, the screen and the verdict. Everything is gone afterwards, also on Ctrl-C;
LANEWAY_KEEP=1 keeps the folder.

A system (a file of systems/) is a module with

    the first line of its docstring   what `scripts/demo --help` says of it
    TARGETS                           what ninja builds
    SECONDS                           how long records are written, unless --seconds says otherwise
    play(stage)                       the story; it ends with checks on stage.verdict
"""
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from ..failure import Failure
from .broker import Broker
from .member import Member
from .processes import Process
from .screen import Screen
from .verdict import Verdict

PATIENCE = 180.0  # s for a state that must come; more only ends a demo that hangs
EVERY = 0.25  # s between two looks


class Stage:
    def __init__(self, name, seconds, screen=None):
        self.name, self.seconds = name, seconds
        self.screen = screen or Screen()
        self.folder = Path(tempfile.mkdtemp(prefix=f"laneway-demo-{name}-"))
        self.processes = []
        self.kafka = Broker(self)
        self.verdict = Verdict()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C does not interrupt the cleaning
        try:
            self.end_all()
            self.kafka.wipe()
        finally:
            if not os.environ.get("LANEWAY_KEEP"):
                shutil.rmtree(self.folder, ignore_errors=True)
            signal.signal(signal.SIGINT, before)

    def end_all(self):
        for process in self.processes:
            process.stop()
        for process in self.processes:
            process.end()

    # What is shown.

    def say(self, text):
        self.screen.say(text)

    def show(self, summary, rows=()):
        self.screen.show(summary, rows)

    # What runs.

    def start_kafka(self, topics, *settings):
        """`topics`: {name: partitions}; `settings`: KEY=VALUE of each topic."""
        self.say("starting a Kafka of its own (the first time it is downloaded)")
        self.kafka.start()
        for topic, partitions in topics.items():
            self.kafka.create(topic, partitions, *settings)
        self.say(f"Kafka at {self.kafka.bootstrap}, with " + ", ".join(f"{topic} ({count} partitions)" for topic, count in topics.items()))

    def program(self, name, command, variables=None):
        return self.watched(Process(name, command, self.folder, variables))

    def member(self, name, config, **settings):
        """`laneway run -c CONFIG`; settings: key="value", with __ for a dot: lanes__workers="4"."""
        dotted = {key.replace("__", "."): value for key, value in settings.items()}
        member = self.watched(Member(name, config, self.folder, self.kafka.bootstrap, dotted))
        self.say(f"{name}: laneway run -c {config}, page {member.page}")
        return member

    def watched(self, process):
        self.processes.append(process)
        return process

    # What is waited for.

    def until(self, what, condition, present=None, within=PATIENCE):
        """The first true value of `condition`. `present` is called at each look: it shows the present."""
        deadline = time.monotonic() + within
        while True:
            for process in self.processes:
                process.check()
            value = condition()
            if present:
                present()
            if value:
                return value
            if time.monotonic() > deadline:
                raise Failure(f"this did not happen within {within:.0f} s: {what}")
            time.sleep(EVERY)

    def for_seconds(self, seconds, present=None):
        """Time in which people can watch."""
        end = time.monotonic() + seconds
        self.until("time passes", lambda: time.monotonic() >= end, present, within=seconds + PATIENCE)

    def ended(self, process, present=None):
        """Waits for the end of a process that was asked to end, or ends by itself: its exit code."""
        process.may_end = True
        self.until(f"{process.name} ends", lambda: not process.running(), present)
        return process.process.returncode
