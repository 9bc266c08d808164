"""The commands of the pages that need neither a service nor brokers, run in one of the places."""
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from pages import STORY, blocks, commands, runs_alone
from places import LONGEST, environment_of


class Alone:
    """Mixed into a TestCase, which names `place`, the class of the place."""
    place = None

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="laneway-documents-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.here = cls.place(Path(cls.holder.name))

    def test_blocks_that_need_nothing_are_run(self):
        count = 0
        for page in self.here.pages:
            for _, _, block in blocks(page, "sh"):
                if page.name == STORY or not all(runs_alone(command) for command in commands(block)):
                    continue
                with self.subTest(page=page.name, block=block):
                    done = subprocess.run(["bash", "-euc", self.here.here(block)], cwd=self.here.folder, text=True,
                                          env=environment_of(self.here.folder), stdin=subprocess.DEVNULL, capture_output=True,
                                          timeout=LONGEST, check=False)
                    self.assertEqual(0, done.returncode, done.stdout + done.stderr)
                    count += 1
        self.assertGreater(count, 3)

    def test_a_console_block_shows_the_printed_text(self):
        for page in self.here.pages:
            for _, _, block in blocks(page, "console"):
                command, shown = block.split("\n", 1)
                with self.subTest(page=page.name, command=command):
                    self.assertTrue(command.startswith("$ laneway "))
                    done = subprocess.run([os.fspath(self.here.laneway), *shlex.split(command)[2:]], text=True, capture_output=True,
                                          timeout=LONGEST, check=False)
                    self.assertEqual(shown, done.stdout)
