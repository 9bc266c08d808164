"""A laneway process: its log, its journal, and its answers over HTTP."""
import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from evidence import FINISHED
from process import LANEWAY, die_with_parent, inherited_environment
from waits import PATIENCE, Failed, expect, expect_equal, wait_until

# MiB that a service without records takes, and what cannot be counted exactly (libraries, stacks, the allocator's reserve).
BESIDE_RECORDS = 64


class Service:
    """One laneway process: `run` with `settings`, or, without them, just the arguments. `program`: another one than laneway."""

    def __init__(self, run, name, arguments, settings=None, environment=None, program=None):
        self.name, self.settings = name, settings
        self.journal = Path(settings["journal"]["file"] if settings else "")
        self.log_file, self.file = run.folder / f"{name}.log", run.folder / f"{name}.yaml"
        if settings:
            self.file.write_text(json.dumps(settings, indent=1))  # JSON is YAML
            arguments = ["run", "-c", str(self.file), *arguments]
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen([*(program or [LANEWAY]), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=die_with_parent, env={**inherited_environment(), **(environment or {})})

    @property
    def log(self):
        return self.log_file.read_text(errors="replace")

    def events(self, message):
        """The log's lines with this message."""
        pattern = re.compile(rf'msg="?{re.escape(message)}"?( |$)')
        return [line for line in self.log.splitlines() if message in line and pattern.search(line)]

    def running(self):
        return self.process.poll() is None

    def url(self):
        def listening():
            expect(self.running(), f"{self.name} ended with {self.process.returncode} before it listened")
            return re.search(r'msg="admin listening".* address="?([^"\s]+)', self.log)
        return "http://" + wait_until(f"{self.name} listens", listening).group(1)

    def get(self, path):
        with urllib.request.urlopen(self.url() + path, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def readiness(self, path="/readyz"):
        """The answer of /readyz, ready or not."""
        try:
            return self.get(path)
        except urllib.error.HTTPError as error:
            return error.read().decode()

    def source_error(self):
        """Why the first lane cannot read its partition; empty if it can."""
        lanes = json.loads(self.get("/status"))["lanes"]
        return lanes[0].get("source_error", "") if lanes else ""

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

    def journaled(self, outcome):
        """The number of attempts that ended like this so far, from its journal."""
        return self.in_journal(f'"outcome":"{outcome}"')

    def attempts(self):
        return self.in_journal('"outcome":')

    def in_journal(self, text):
        return self.journal.read_bytes().count(text.encode()) if self.journal.exists() else 0

    def processed(self):
        return self.journaled("success")

    def successes_since(self, moment):
        """How many records it finished after this time, in ns since 1970."""
        attempts = [json.loads(line) for line in self.journal.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return sum(attempt["outcome"] in FINISHED and attempt["end"] > moment for attempt in attempts)

    def settled(self, done):
        """A time, in ns since 1970: whatever it had finished by then is committed, or in the map of a commit.

        That takes commits, so records must go on being finished; or `done` says that there is nothing left.
        """
        now, before = time.time_ns(), self.metric("commits_total", result="success")
        # One may have been under way; one more, and what was written down just now has reached the commit, too.
        wait_until(f"{self.name} has committed what it has finished",
                   lambda: self.metric("commits_total", result="success") >= before + 3 or done())
        return now

    def peak_memory(self):
        """Bytes of resident memory at the most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    def expect_memory_within(self, budget):
        """Fails if the service has taken more than `budget` MiB for records; returns the peak of everything, in MiB."""
        peak = self.peak_memory() / 2**20
        expect(peak < budget + BESIDE_RECORDS, f"{peak:.0f} MiB of memory")
        return peak

    def signal(self, number):
        self.process.send_signal(number)

    def reload(self, **sections):
        """The settings with these sections instead, by SIGHUP; returns when they are in force."""
        before = len(self.events("reloaded"))
        self.settings = {**self.settings, **sections}
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.settings, indent=1))
        new.rename(self.file)
        self.signal(signal.SIGHUP)
        wait_until(f"{self.name} has reloaded", lambda: len(self.events("reloaded")) > before)

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
