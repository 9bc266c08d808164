"""getting-started.md from its first command to its last; then, while its service runs, what the other pages show of a service.

The commands are run as they are written. Only how many records are sent and how long is measured is shortened, and addresses
are replaced where the place needs it.
"""
import contextlib
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from pages import STORY, blocks, commands, is_laneway, is_run, runs_alone
from places import LONGEST, environment_of

SHORTER = {"--window 10s": "--window 5s", "--window 30s": "--window 2s", "--count 2000": "--count 1000"}
SAID = ("configuration is valid", "topic orders: 2 partitions", "group orders-webhook", "orders:0", "ready\n", "orders:1 is suspended",
        "orders:1 is resumed", "measured over 5s", "lanes: { workers:")

SILENT = ("install ", "sed ", "scripts/")  # commands that print nothing


class Story:
    """Mixed into a TestCase, which names `place`, the class of the place, and whether the Kafka is a real one."""
    place, real_kafka = None, False

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="laneway-documents-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "etc").mkdir()
        (self.folder / "tmp").mkdir()
        self.here = self.place(self.folder)
        self.environment = {**environment_of(folder.name), "TMPDIR": str(self.folder / "tmp")}
        self.bootstrap, self.admin, self.receiver = "127.0.0.1:9092", "127.0.0.1:9644", "127.0.0.1:8080"
        self.other = dict(SHORTER)
        self.running = []
        self.addCleanup(self.end_all)

    def use_other_addresses(self, bootstrap, admin, receiver):
        """Replaces the addresses of the page by these."""
        port = receiver.split(":")[1]
        self.other |= {self.bootstrap: bootstrap, self.admin: admin, self.receiver: receiver, ", 8080)": f", {port})"}
        self.bootstrap, self.admin, self.receiver = bootstrap, admin, receiver
        self.environment["LANEWAY_ADMIN__LISTEN"] = admin

    def end_all(self):
        for process in self.running:
            process.kill()
            process.wait()

    def localised(self, text):
        for shown, here in self.other.items():
            text = text.replace(shown, here)
        return self.here.here(text)

    def log_of(self, process):
        return (self.folder / f"{self.running.index(process)}.log").read_text()

    def start(self, block, answers):
        """In a terminal of its own."""
        with open(self.folder / f"{len(self.running)}.log", "wb") as log:
            self.running.append(subprocess.Popen(["bash", "-euc", "exec " + block.strip()], cwd=self.folder, env=self.environment,
                                                 stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT))
        self.wait_for(answers, self.running[-1])

    def wait_for(self, true, process):
        deadline = time.monotonic() + LONGEST
        while not true():
            self.assertIsNone(process.poll(), self.log_of(process))
            self.assertLess(time.monotonic(), deadline, self.log_of(process))
            time.sleep(0.1)

    def ready(self):
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"http://{self.admin}/readyz", timeout=5).status == 200
        return False

    def listens(self):
        host, port = self.receiver.split(":")
        with contextlib.suppress(OSError):
            socket.create_connection((host, int(port)), timeout=5).close()
            return True
        return False

    def received(self):
        return self.log_of(self.running[0]).count("\n")

    def run_block(self, block):
        done = subprocess.run(["bash", "-euc", block], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=2 * LONGEST, check=False)
        self.assertEqual(0, done.returncode, block + done.stdout + done.stderr)
        return done.stdout

    def lines_to_run(self, block):
        """Each command has a line, or some."""
        for line in block.replace("\\\n", " ").splitlines():
            if all(is_run(command, self.real_kafka) for command in commands(line)):
                yield line

    def page_block(self, name, language, block):
        """Runs the block, or writes the file; returns the output."""
        if language != "sh":
            (self.folder / name).write_text(self.localised(block))
            return ""
        block = "\n".join(self.lines_to_run(block))
        programs = list(commands(block))
        if "receiver.py" in block:
            self.start(self.localised(block), self.listens)
        elif any(is_laneway(command) and command[1] == "run" for command in programs):
            self.start(self.localised(block), self.ready)
            self.wait_for(lambda: self.received() >= 20, self.running[-1])
        elif programs:
            return self.run_block(self.localised(block))
        return ""

    def test_from_the_first_command_to_the_last(self):
        (page,) = (page for page in self.here.pages if page.name == STORY)
        said = ""
        for name, language, block in blocks(page, "sh", "python", "yaml"):
            said += self.page_block(name, language, block)
        for words in SAID:
            self.assertIn(words, said)
        self.wait_for(lambda: self.received() >= 1020, self.running[-1])
        self.other_pages()
        self.running[-1].send_signal(signal.SIGTERM)
        self.assertEqual(0, self.running[-1].wait(LONGEST), self.log_of(self.running[-1]))

    def other_pages(self):
        """Runs the commands of the other pages that need a running service and records."""
        self.other.update({"/etc/laneway": str(self.folder / "etc"), "/etc/prometheus": str(self.folder / "etc"),
                           "-g laneway": f"-g {os.getgid()}"})
        self.environment |= {"LANEWAY_KAFKA__BOOTSTRAP_SERVERS": self.bootstrap,
                             "LANEWAY_HANDLER__HTTP__URL": f"http://{self.receiver}/orders"}
        sender = subprocess.Popen([os.environ["KAFKA_TOOL"], "--bootstrap", self.bootstrap, "produce", "orders", "--rate", "100"],
                                  stdout=subprocess.DEVNULL)
        self.addCleanup(lambda: (sender.kill(), sender.wait()))
        before = self.received()
        self.wait_for(lambda: self.received() > before, self.running[-1])
        count = 0
        for page in self.here.pages:
            for _, _, block in blocks(page, "sh"):
                if page.name == STORY or all(runs_alone(command) for command in commands(block)):
                    continue
                for line in self.lines_to_run(block):
                    with self.subTest(page=page.name, line=line):
                        self.assertTrue(self.run_block(self.at_this_service(line)) or line.startswith(SILENT))
                        count += 1
        self.assertGreater(count, 6)

    def at_this_service(self, line):
        """Without an option a command calls the address that a service has by default."""
        line = re.sub(r"^laneway plan (?!.*--window)", r"\g<0>--window 2s ", self.localised(line))
        if self.admin == "127.0.0.1:9644":
            return line
        return re.sub(r"^laneway (status|reload|suspend|resume)", rf"\g<0> --admin {self.admin}", line)
