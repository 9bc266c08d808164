"""docs/writing-handlers.md has each header that a request of handler.http carries, and no other."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*(ROOT / "lib/handler/http").glob("*.cpp"), ROOT / "lib/handler/format/delivery_id.h"]
NAME = r"(?:Kafka|Laneway)-[A-Z][A-Za-z-]+"


def in_sources():
    return {name for source in SOURCES for name in re.findall(f'"({NAME})"', source.read_text())}


def in_table():
    page = (ROOT / "docs/writing-handlers.md").read_text()
    table = re.search(r"^\| header \| value \|\n(?:\|.*\n)+", page, re.MULTILINE)[0]
    return set(re.findall(rf"^\| `({NAME})` \|", table, re.MULTILINE))


class Headers(unittest.TestCase):
    def test_the_table_has_each_header_that_the_sources_set(self):
        self.assertGreater(len(in_sources()), 5)
        self.assertEqual(in_sources(), in_table())


if __name__ == "__main__":
    unittest.main()
