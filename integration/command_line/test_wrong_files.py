"""Wrong files, values and variables get the exit code and the whole message of the table in wrong_files.py. Without a broker."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from wrong_files import EXEC, ROWS

ROOT = Path(__file__).resolve().parents[2]
LANEWAY = os.environ.get("LANEWAY", str(ROOT / "build" / "app" / "laneway"))
LONGEST = 60  # a hang is a failure; no test passes or fails by being faster


def check(row, folder, *arguments):
    """`laneway check` in the folder of the file, so that messages show the file's name alone."""
    (folder / "orders.yaml").write_text(row.text)
    for name in row.beside:
        (folder / name).write_text("# a script\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LANEWAY_")}
    sets = [word for text in row.sets for word in ("--set", text)]
    return subprocess.run([LANEWAY, "check", "-c", "orders.yaml", *sets, *arguments], text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LONGEST, env={**kept, **row.variables}, cwd=folder, check=False)


class WrongFiles(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="laneway-wrong-files-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def test_each_row_gets_its_message(self):
        for row in ROWS:
            with self.subTest(row.name):
                done = check(row, self.folder)
                self.assertEqual(row.message, done.stderr.replace(str(self.folder), "FOLDER").rstrip("\n"))
                self.assertEqual(row.code, done.returncode)

    def test_each_row_has_a_name_of_its_own(self):
        names = [row.name for row in ROWS]
        self.assertEqual(sorted(set(names)), sorted(names))

    def test_a_program_and_a_script_are_shown_by_the_paths_that_were_found(self):
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "runner").write_text("#!/bin/sh\n")
        (programs / "runner").chmod(0o755)
        for text, sets in ((EXEC + "[runner, work.py]\n", []),
                           (EXEC + "[sh]\n", ['handler.exec.command=["runner","work.py"]'])):
            with self.subTest(sets):
                done = check(self.right(text, sets, programs), self.folder)
                self.assertEqual(0, done.returncode, done.stderr)
                self.assertIn(f"exec starts {programs}/runner {self.folder}/work.py", done.stdout)

    @staticmethod
    def right(text, sets, programs):
        return type(ROWS[0])("", text, "", sets=sets, beside=["work.py"], variables={"PATH": f"{programs}:/usr/bin:/bin"})


if __name__ == "__main__":
    unittest.main()
