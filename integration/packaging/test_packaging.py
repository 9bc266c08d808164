"""The steps of a user with an installed laneway: every command of examples/*/README.md, run as it is written there.

HOME is a temporary folder; Kafka, the embedded cluster, and the group are named by variables. Nothing else differs.
"""
import json
import os
import re
import signal
import subprocess
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 240  # a hang is a failure; nothing passes or fails by being faster
RECORDS = 20


def blocks(readme):
    """The shell commands of a page, block by block."""
    text = (ROOT / readme).read_text()
    found = re.findall(r"^( *)```sh\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block).strip().splitlines() for _, block in found]


class Packaging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="laneway-packaging-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        (self.home / "checkout").mkdir()
        (self.home / "checkout" / "build").symlink_to(os.environ["BUILD"])
        self.kafka = subprocess.Popen([os.environ["EMBEDDED_KAFKA"], "orders"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_kafka)
        self.bootstrap = self.kafka.stdout.readline().strip()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LANEWAY_")}
        self.environment = {**kept, "HOME": str(self.home), "LANEWAY_KAFKA__BOOTSTRAP_SERVERS": self.bootstrap,
                            "LANEWAY_ADMIN__LISTEN": "127.0.0.1:0"}
        self.tool("produce", "orders", "--count", RECORDS, "--size", 40)

    def end_kafka(self):
        self.kafka.stdin.close()
        self.kafka.wait(LONGEST)
        self.kafka.stdout.close()

    def tool(self, *arguments):
        done = subprocess.run([os.environ["KAFKA_TOOL"], "--bootstrap", self.bootstrap, *map(str, arguments)], text=True,
                              capture_output=True, timeout=LONGEST, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def shell(self, lines):
        done = subprocess.run(["bash", "-euc", "\n".join(lines)], cwd=self.home / "checkout", env=self.environment,
                              stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=LONGEST, check=False)
        self.assertEqual(0, done.returncode, "\n".join(lines) + "\n" + done.stdout + done.stderr)
        return done.stdout + done.stderr

    def serve(self, command, group):
        """Runs a service in this group until everything is committed; returns its output."""
        environment = {**self.environment, "LANEWAY_KAFKA__GROUP_ID": group}
        log = self.home / f"{group}.log"
        with open(log, "wb") as out:
            service = subprocess.Popen(["bash", "-euc", "exec " + command], cwd=self.home / "checkout",
                                       env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            deadline = time.monotonic() + LONGEST
            while self.committed(group) < RECORDS:
                self.assertIsNone(service.poll(), log.read_text())
                self.assertLess(time.monotonic(), deadline, log.read_text())
                time.sleep(0.2)
            service.send_signal(signal.SIGTERM)
            self.assertEqual(0, service.wait(LONGEST), log.read_text())
        finally:
            service.kill()
            service.wait()
        return log.read_text()

    def committed(self, group):
        return sum(max(line["offset"] or 0, 0) for line in self.tool("committed", group, "orders"))

    def test_each_command_of_the_examples(self):
        *preparations, check, run = blocks("examples/plugin/README.md")
        self.assertEqual(3, len(preparations))
        for block in preparations:
            self.shell(block)
        self.assertIn("the plugin greeting 1.0 accepts its configuration", self.shell(check))
        said = self.serve(run[-1], "greeting")
        self.assertRegex(said, r'plugin=greeting text="?hello ')

        *preparations, run = blocks("examples/service/README.md")
        self.assertEqual(2, len(preparations))
        for group, block in zip(("with-cmake", "with-pkg-config"), preparations):
            self.shell(block)
            self.assertEqual(RECORDS, self.serve(run[-1], group).count("order at "))
        self.compile_installed_headers()

    def compile_installed_headers(self):
        headers = self.home / "laneway" / "include"
        for header, language, standards in (("plugin.h", "c", ("c99", "c11")), ("plugin.h", "c++", ("c++17",)),
                                            ("plugin.hpp", "c++", ("c++17", "c++20")), ("laneway.hpp", "c++", ("c++17", "c++20"))):
            for standard in standards:
                self.shell([f"echo '#include <laneway/{header}>' | ${{CXX}} -x {language} -std={standard} -Wall -Wextra -Wpedantic "
                            f"-Werror -fsyntax-only -I{headers} -"])


if __name__ == "__main__":
    unittest.main()
