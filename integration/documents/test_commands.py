"""Every command that README.md and docs/*.md show in an `sh` or `console` block, from the checkout.

Each command must be covered by a rule: laneway's verbs and options exist, and so does each file that is named, in the repository
or the package. Blocks for which nothing is needed are run, and `console` blocks must print what they show. What needs a service
is run by test_getting_started.py, and with the files of the Debian package by test_from_package.py.
"""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from alone import Alone
from pages import PAGES, ROOT, blocks, commands, in_repository, is_laneway
from places import LONGEST, Checkout

LANEWAY = os.environ["LANEWAY"]
# Programs of others: whether their options are right is theirs to say, but the files must be there.
OTHERS = {"apt", "cmake", "cp", "curl", "echo", "editor", "install", "journalctl", "ninja", "python3", "sed", "systemctl", "wait"}
SHELL_WORDS = re.compile(r"^(\$ |(\./)?scripts/|(build/app/)?laneway "
                         r"(run|check|status|plan|dlq|suspend|pause|resume|skip|send-on|give-up|demo|reload|version)\b)", re.MULTILINE)


class Commands(unittest.TestCase):
    helps = {}

    def help_of(self, *verbs):
        if verbs not in self.helps:
            done = subprocess.run([LANEWAY, *verbs, "--help"], text=True, capture_output=True, timeout=LONGEST, check=False)
            self.assertIn(f"Usage: laneway {' '.join(verbs)} ", done.stdout, "there is no such verb")
            self.helps[verbs] = done.stdout
        return self.helps[verbs]

    def covered_laneway(self, arguments):
        verbs = tuple(word for word in arguments[:2] if re.fullmatch("[a-z-]*[a-z]", word))[:2 if arguments[0] == "dlq" else 1]
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
                    with self.subTest(page=page.name, command=" ".join(command)):
                        self.covered(command)
                        count += 1
        self.assertGreater(count, 20)

    def test_commands_within_sentences_have_verbs_and_options_that_exist(self):
        for page in PAGES:
            for code in re.findall(r"`laneway ([a-z][^`\n]*)`", page.read_text()):
                with self.subTest(page=page.name, code=code):
                    self.covered_laneway(code.split())

    def test_commands_are_marked_as_such(self):
        for page in PAGES:
            for _, _, block in blocks(page, ""):
                self.assertNotRegex(block, SHELL_WORDS, f"{page.name}: mark this block as sh or console")


class Configurations(unittest.TestCase):
    """Pieces of configurations that pages show for any service; those of access.md are used by the scenario access."""
    AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"  # any file with certificates
    REST = 'kafka: { bootstrap.servers: "127.0.0.1:9092", group.id: g }\ntopics: [orders]\nhandler: { log: {} }\n'

    def test_each_piece_is_right(self):
        with tempfile.TemporaryDirectory(prefix="laneway-documents-") as folder:
            file = Path(folder) / "piece.yaml"
            for page in (ROOT / "docs/failures.md", ROOT / "docs/operations.md"):
                pieces = blocks(page, "yaml")
                self.assertTrue(pieces)
                for _, _, piece in pieces:
                    with self.subTest(page=page.name, piece=piece):
                        file.write_text(self.REST + piece.replace("/etc/laneway/collector-ca.pem", self.AUTHORITIES))
                        done = subprocess.run([LANEWAY, "check", "-c", file], text=True, capture_output=True, timeout=LONGEST,
                                              env={**os.environ, "COLLECTOR_TOKEN": "t"}, check=False)
                        self.assertEqual(0, done.returncode, done.stderr)


class Links(unittest.TestCase):
    @staticmethod
    def anchors(page):
        """As GitHub makes them of headings."""
        titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}

    def test_each_link_leads_to_a_file_and_to_a_heading(self):
        for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                if "://" in target:
                    continue
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                with self.subTest(page=page.name, target=target):
                    self.assertTrue(file.exists(), "there is no such file")
                    if anchor:
                        self.assertIn(anchor, self.anchors(file), "there is no such heading")


class FromTheCheckout(Alone, unittest.TestCase):
    place = Checkout


if __name__ == "__main__":
    unittest.main()
