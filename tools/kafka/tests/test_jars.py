"""What tools/kafka/jars.py accepts as a release of Kafka, with files that are not jars."""
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools.failure import Failure
from tools.kafka import jars


class Pinned(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write("a.jar", "one")
        self.write("b.jar", "two")
        pinned = mock.patch.dict(jars.PINNED, {"9.9.9": jars.digest_of(self.folder)})
        pinned.start()
        self.addCleanup(pinned.stop)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def refused(self):
        with self.assertRaises(Failure) as refusal:
            jars.verify("9.9.9", self.folder)
        self.assertIn("9.9.9", str(refusal.exception))

    def test_the_jars_that_are_pinned_are_taken(self):
        jars.verify("9.9.9", self.folder)

    def test_another_content_is_refused(self):
        self.write("b.jar", "2")
        self.refused()

    def test_another_name_is_refused(self):
        (self.folder / "b.jar").rename(self.folder / "c.jar")
        self.refused()

    def test_an_additional_jar_is_refused(self):
        self.write("c.jar", "three")
        self.refused()

    def test_the_releases_that_tests_use_are_pinned(self):
        self.assertLessEqual({jars.DEFAULT, jars.NEWEST}, set(jars.PINNED))
