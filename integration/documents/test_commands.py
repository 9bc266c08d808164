"""Every command that README.md and docs/*.md show in an `sh` or `console` block.

docs/getting-started.md is run from its first command to its last, on the client library's embedded cluster; then, while its
service is at work, what the other pages show. Their blocks for which nothing is needed (RUNS) are run alone; `console` blocks
must print what they show. What is not run is in NOT_RUN, each with the reason. Also, each command must be covered by a rule:
laneway's verbs and options exist, and so does each file that is named, in the repository or the package.
"""
import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))
from tools.ports import free_port  # noqa: E402

LANEWAY = os.environ["LANEWAY"]
LONGEST = 120  # a hang is a failure; nothing passes or fails by being faster
PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
STORY = "docs/getting-started.md"
# Programs of others: what they are told is theirs to know, but the files must be there.
OTHERS = {"apt", "cmake", "cp", "curl", "echo", "editor", "install", "journalctl", "ninja", "python3", "sed", "systemctl", "wait"}
RUNS = {"check", "version", "plan"}
NOT_RUN = {
    "scripts/demo": "builds all of it; `laneway demo`, which it runs then, is run by embedded.demo",
    "scripts/test": "would run this test",
    "scripts/setup": "installs packages; scripts/test begins with it",
    "scripts/kafka": "downloads a Kafka; scripts/test installs and the scenarios start one with it",
    "kafka_tool create": "the embedded cluster makes topics in its own way; each scenario runs it on a real Kafka",
    "apt": "needs root; scripts/test-package installs and removes in a root of its own",
    "systemctl": "there is no systemd to be asked; embedded.systemd looks at the unit",
    "journalctl": "as systemctl",
    "editor": "is for a person",
    "sed": "writes below /etc; unit.alerts runs it without that",
}
SHELL_WORDS = re.compile(r"^(\$ |(\./)?scripts/|(build/app/)?laneway (run|check|status|plan|dlq|pause|resume|skip|demo|reload|version)\b)",
                         re.MULTILINE)


def blocks(page, *languages):
    """(name of the file that the text before calls it, text) of each block in one of the languages."""
    text = (ROOT / page).read_text()
    found = re.findall(r"^(?:`([\w.]+)`:\n\n)?^ *```(\w*)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [(name, language, body) for name, language, body in found if language in languages]


def commands(block):
    """The simple commands of shell text, as lists of words."""
    text = block.replace("\\\n", " ")
    for line in text.splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        command = []
        for word in words:
            if set(word) <= set("|&;"):
                yield command
                command = []
            else:
                command.append(word)
        if command:
            yield command


def in_repository(path):
    """Where a file of the package comes from; None for what no rule knows."""
    packaged = "/usr/share/doc/laneway/"
    if not path.startswith(packaged):
        return ROOT / path
    path = path.removeprefix(packaged)
    if path.startswith("examples/"):
        rest = path.removeprefix("examples/")
        return next((place for place in (ROOT / "config" / rest, ROOT / "config/examples" / rest) if place.exists()), ROOT / path)
    if path.startswith(("prometheus/", "grafana/")):
        return ROOT / "config" / path
    return ROOT / "docs" / path


def is_laneway(command):
    return command[0] in ("laneway", "build/app/laneway")


def reason_not_to_run(command):
    """None for what is run."""
    program = command[0].removeprefix("./")
    if program.endswith("/kafka_tool"):
        program = "kafka_tool " + next(word for word in command if word in ("create", "produce"))
    return NOT_RUN.get(program)


def runs_alone(command):
    if is_laneway(command):
        return command[1] in RUNS and not {"--connect", "--from"} & set(command) and "/etc/laneway" not in " ".join(command)
    return command[0] in ("echo", "python3") or command[0].startswith("config/examples/")


def from_repository(text):
    return re.sub(r"/usr/share/doc/laneway/[\w/.]+", lambda found: str(in_repository(found[0])), text)


class Commands(unittest.TestCase):
    helps = {}

    def help_of(self, *verbs):
        if verbs not in self.helps:
            done = subprocess.run([LANEWAY, *verbs, "--help"], text=True, capture_output=True, timeout=LONGEST, check=False)
            self.assertIn(f"Usage: laneway {' '.join(verbs)} ", done.stdout, "there is no such verb")
            self.helps[verbs] = done.stdout
        return self.helps[verbs]

    def covered_laneway(self, arguments):
        verbs = tuple(word for word in arguments[:2] if re.fullmatch("[a-z]+", word))[:2 if arguments[0] == "dlq" else 1]
        text = self.help_of(*verbs)
        for word in arguments:
            if re.match(r"--?[a-z]", word):
                option = word.split("=")[0]
                self.assertRegex(text, rf"(?m)(^|[ ,]){re.escape(option)}\b", f"laneway {' '.join(verbs)} has no {option}")

    def covered(self, command):
        program = command[0].removeprefix("./")
        if is_laneway(command):
            self.covered_laneway(command[1:])
        elif program.startswith(("scripts/", "config/", "examples/")):
            self.assertTrue(os.access(ROOT / program, os.X_OK), f"{program} is no program of the repository")
        elif not program.endswith("/kafka_tool"):  # the story runs it
            self.assertIn(program, OTHERS, f"no rule of {Path(__file__).name} covers {command}")
        for word in command[1:]:
            if re.match(r"(\./)?(scripts|config|examples|docs)/|/usr/share/doc/laneway/", word):
                self.assertTrue(in_repository(word).exists(), f"{word} is nowhere")

    def test_each_command_is_covered_by_a_rule(self):
        count = 0
        for page in PAGES:
            for _, _, block in blocks(page, "sh"):
                for command in commands(block):
                    with self.subTest(page=page, command=" ".join(command)):
                        self.covered(command)
                        count += 1
        self.assertGreater(count, 20)

    def test_commands_within_sentences_have_verbs_and_options_that_exist(self):
        for page in PAGES:
            for code in re.findall(r"`laneway ([a-z][^`\n]*)`", (ROOT / page).read_text()):
                with self.subTest(page=page, code=code):
                    self.covered_laneway(code.split())

    def test_commands_are_marked_as_such(self):
        for page in PAGES:
            for _, _, block in blocks(page, ""):
                self.assertNotRegex(block, SHELL_WORDS, f"{page}: mark this block as sh or console")

    def shell(self, text, **more):
        return subprocess.run(["bash", "-euc", text], text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST,
                              check=False, **more)

    def test_blocks_that_need_nothing_are_run(self):
        with tempfile.TemporaryDirectory(prefix="laneway-documents-") as folder:
            (Path(folder) / "config").symlink_to(ROOT / "config")
            (Path(folder) / "laneway").symlink_to(LANEWAY)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            count = 0
            for page in PAGES:
                for _, _, block in blocks(page, "sh"):
                    if page == STORY or not all(runs_alone(command) for command in commands(block)):
                        continue
                    with self.subTest(page=page, block=block):
                        done = self.shell(from_repository(block), cwd=folder, env=environment)
                        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
                        count += 1
            self.assertGreater(count, 3)

    def test_what_a_console_shows_is_what_is_printed(self):
        for page in PAGES:
            for _, _, block in blocks(page, "console"):
                command, shown = block.split("\n", 1)
                with self.subTest(page=page, command=command):
                    self.assertTrue(command.startswith("$ laneway "))
                    done = subprocess.run([LANEWAY, *shlex.split(command)[2:]], text=True, capture_output=True, timeout=LONGEST,
                                          check=False)
                    self.assertEqual(shown, done.stdout)


class Story(unittest.TestCase):
    """getting-started.md, word for word, except for addresses, and for how many records are sent and how long is measured; then
    the commands of the other pages that ask a service."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="laneway-documents-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "build").symlink_to(os.environ["BUILD"])
        (self.folder / "etc").mkdir()
        (self.folder / "laneway").symlink_to(LANEWAY)
        kafka = subprocess.Popen([os.environ["EMBEDDED_KAFKA"], "orders", "orders-dlt"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (kafka.stdin.close(), kafka.wait(LONGEST), kafka.stdout.close()))
        self.admin = f"127.0.0.1:{free_port()}"
        self.receiver = free_port()
        self.other = {"127.0.0.1:9092": kafka.stdout.readline().strip(), "127.0.0.1:9644": self.admin,
                      "8080": str(self.receiver), "--window 10s": "--window 5s", "--count 2000": "--count 1000"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LANEWAY_")}
        self.environment = {**kept, "PATH": f"{folder.name}:{os.environ['PATH']}", "LANEWAY_ADMIN__LISTEN": self.admin}
        self.running = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.running:
            process.kill()
            process.wait()

    def localised(self, text):
        for shown, here in self.other.items():
            text = text.replace(shown, here)
        return text

    def start(self, block, answers):
        """In a terminal of its own."""
        with open(self.folder / f"{len(self.running)}.log", "wb") as log:
            self.running.append(subprocess.Popen(["bash", "-euc", "exec " + block.strip()], cwd=self.folder, env=self.environment,
                                                 stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT))
        self.wait_for(answers, self.running[-1])

    def wait_for(self, true, process):
        deadline = time.monotonic() + LONGEST
        while not true():
            log = (self.folder / f"{self.running.index(process)}.log").read_text()
            self.assertIsNone(process.poll(), log)
            self.assertLess(time.monotonic(), deadline, log)
            time.sleep(0.1)

    def ready(self):
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"http://{self.admin}/readyz", timeout=5).status == 200
        return False

    def listens(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.receiver), timeout=5).close()
            return True
        return False

    def received(self):
        return (self.folder / "0.log").read_text().count("\n")

    def run_block(self, block):
        done = subprocess.run(["bash", "-euc", block], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=LONGEST, check=False)
        self.assertEqual(0, done.returncode, block + done.stdout + done.stderr)
        return done.stdout

    @staticmethod
    def lines_to_run(block):
        """Each command has a line, or some."""
        for line in block.replace("\\\n", " ").splitlines():
            if not any(reason_not_to_run(command) for command in commands(line)):
                yield line

    def other_pages(self):
        """What they show while a service is at work, and records come."""
        self.other.update({"/etc/laneway": str(self.folder / "etc"), "-g laneway": f"-g {os.getgid()}",
                           "--window 30s": "--window 2s"})
        self.environment |= {"LANEWAY_KAFKA__BOOTSTRAP_SERVERS": self.other["127.0.0.1:9092"],
                             "LANEWAY_HANDLER__HTTP__URL": f"http://127.0.0.1:{self.receiver}/orders"}
        sender = subprocess.Popen([os.environ["KAFKA_TOOL"], "--bootstrap", self.other["127.0.0.1:9092"], "produce", "orders",
                                   "--rate", "100"], stdout=subprocess.DEVNULL)
        self.addCleanup(lambda: (sender.kill(), sender.wait()))
        before = self.received()
        self.wait_for(lambda: self.received() > before, self.running[-1])
        count = 0
        for page in PAGES:
            for _, _, block in blocks(page, "sh"):
                if page == STORY or all(runs_alone(command) for command in commands(block)):
                    continue
                for line in self.lines_to_run(block):
                    # Without an option it asks where the service is by default.
                    line = re.sub(r"^laneway (status|reload)", rf"\g<0> --admin {self.admin}", line)
                    line = re.sub(r"^laneway plan (?!.*--window)", r"\g<0>--window 2s ", line)
                    with self.subTest(page=page, line=line):
                        self.assertTrue(self.run_block(from_repository(self.localised(line))) or line.startswith("install "))
                        count += 1
        self.assertGreater(count, 6)

    def test_from_the_first_command_to_the_last(self):
        said = ""
        for name, language, block in blocks(STORY, "sh", "python", "yaml"):
            block = self.localised(block)
            if language != "sh":
                (self.folder / name).write_text(block)
                continue
            block = "\n".join(self.lines_to_run(block))
            programs = list(commands(block))
            if "receiver.py" in block:
                self.start(block, self.listens)
            elif any(is_laneway(command) and command[1] == "run" for command in programs):
                self.start(block, self.ready)
                self.wait_for(lambda: self.received() >= 20, self.running[-1])
            elif programs:
                said += self.run_block(block)
        for words in ("topic orders: 2 partitions", "group orders-webhook", "orders[0]", "ready\n", "orders[1] is paused by hand",
                      "orders[1] goes on", "measured over 5s", "lanes: { workers:"):
            self.assertIn(words, said)
        self.wait_for(lambda: self.received() >= 1020, self.running[-1])
        self.other_pages()
        self.running[-1].send_signal(signal.SIGTERM)
        self.assertEqual(0, self.running[-1].wait(LONGEST), (self.folder / "1.log").read_text())


if __name__ == "__main__":
    unittest.main()
