"""docs/outages.md and its proof: each row of the page's tables names rows of the scenario outages, and each of those is named."""
import ast
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/outages.md").read_text()
SOURCE = (ROOT / "integration/scenarios/outages/outages.py").read_text()
OTHERS = {"outage.py", "nightly_batch.py"}  # scenarios of their own


def scenario_rows():
    """The names in GROUPS, by which the rows are run."""
    for node in ast.parse(SOURCE).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GROUPS":
            return {name for names in ast.literal_eval(node.value).values() for name in names}
    raise AssertionError("no GROUPS in scenarios/outages/outages.py")


def tables():
    """The lines of each table that has a column `row`, as lists of cells."""
    for table in re.findall(r"(?:^\|.*\|\n)+", PAGE, re.MULTILINE):
        head, _, *lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
        if head[-1] == "row":
            yield lines


def quoted(text):
    return set(re.findall(r"`([\w.-]+)`", text))


class Outages(unittest.TestCase):
    def test_each_line_of_the_tables_names_its_test(self):
        found = list(tables())
        self.assertEqual(2, len(found), "tables with a column `row`")
        for lines in found:
            for line in lines:
                named = quoted(line[-1])
                self.assertTrue(named, line[0])
                self.assertEqual(set(), named - scenario_rows() - OTHERS, line[0])

    def test_each_row_of_the_scenario_is_on_the_page(self):
        self.assertEqual(set(), scenario_rows() - quoted(PAGE))


if __name__ == "__main__":
    unittest.main()
