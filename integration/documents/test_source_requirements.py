"""docs/source-requirements.md has each requirement of the source documents once, and each thing that it names exists.

Names in the column `fulfilled by` stand in backquotes: files, keys, metrics, alerts, commands, log messages, C++ names. A name
that no rule below knows is a failure.
"""
import functools
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/source-requirements.md").read_text()
LAST = {"S0": 40, "S1": 80, "S2": 55, "S3": 21, "S4": 44}  # the last requirement of each document
FURTHER = {"S2-40b"}
FOLDERS = ("tests", "integration", "lib", "app", "include", "config", "examples", "tools", "scripts")
PLANNED = re.compile(r"<!-- check: [^>]* -->")
# Names of the documents, and values, that a row mentions beside what fulfils it.
NO_NAMES = {"Retry-After", "after", "rejected", "panic", "timeout", "unavailable", "saturation", "rec/s"}


def numbers():
    counted = {f"{document}-{number:02}" for document, last in LAST.items() for number in range(1, last + 1)}
    return counted | FURTHER


def rows():
    """(number, what fulfils it) of each row."""
    lines = re.findall(r"^\| (S\d-\w+) \|(.*)\|$", PAGE, re.MULTILINE)
    return [(number, rest.split(" | ", 1)[1]) for number, rest in lines]


@functools.cache
def keys():
    """Each key and each group of config/full.yaml, commented out or not, by the indentation."""
    found, above = set(), []
    for line in (ROOT / "config/full.yaml").read_text().splitlines():
        entry = re.match(r"^( *)(?:# ( *))?([a-z_][\w.]*):(?: |$)", line)
        if entry and not re.match(r"^#", line):
            depth = len(entry[1]) + len(entry[2] or "")
            above = [(indent, name) for indent, name in above if indent < depth] + [(depth, entry[3])]
            found.add(".".join(name for _, name in above))
    return found


@functools.cache
def files():
    return {str(file.relative_to(ROOT)) for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.is_file()}


@functools.cache
def text_of(*folders):
    return "".join(file.read_text() for folder in folders for file in sorted((ROOT / folder).rglob("*"))
                   if file.suffix in {".h", ".hpp", ".cpp"})


def is_file(name):
    """The whole path, or for a test the path below tests/, integration/ or integration/scenarios/."""
    return bool({name, f"tests/{name}", f"integration/{name}", f"integration/scenarios/{name}"} & files()) or \
        f"tests/{name}.cpp" in files()


def is_metric(name):
    table = (ROOT / "lib/telemetry/metric_table.h").read_text()
    return name == "laneway_" or f'{{"{name.removeprefix("laneway_")}", MetricType' in table


def is_alert(name):
    return re.search(rf"- alert: {name}$", (ROOT / "config/prometheus/laneway.rules.yml").read_text(), re.MULTILINE)


def is_script(name):
    script, *arguments = name.split()
    if script == "scripts/bench":
        return set(arguments) <= set(re.findall(r'^    "(\w+)": ', (ROOT / "tools/bench/cases/__init__.py").read_text(), re.MULTILINE))
    if script == "scripts/demo":
        return all((ROOT / "docs/systems" / f"{argument}.md").exists() for argument in arguments)
    return (ROOT / script).exists()


def is_message(name):
    return f'"{name.removeprefix("msg=").strip(chr(34))}"' in text_of("lib", "app")


def is_path_of_the_admin_port(name):
    return f'"{name}"' in (ROOT / "lib/admin/server/routes.cpp").read_text()


def is_cpp(name):
    return re.search(rf"\b{name.split('::')[-1]}\b", text_of("lib/pool", "include"))


def is_key(name):
    return name.split(": ")[0] in keys()


RULES = [
    (r"scripts/\S+( .*)?", is_script),
    (r"[\w/@.-]+/[\w@.-]+", is_file),
    (r"laneway_\w*", is_metric),
    (r"Laneway[A-Z]\w+", is_alert),
    (r"laneway [a-z].*", lambda name: True),  # test_commands.py knows the verbs and their options
    (r"msg=.*", is_message),
    (r"/[a-z]+", is_path_of_the_admin_port),
    (r"\w+::\w+", is_cpp),
    (r"[a-z_]+(\.[a-z_]+)*(: .*)?", is_key),
]


def exists(name):
    for pattern, rule in RULES:
        if re.fullmatch(pattern, name):
            return bool(rule(name))
    return False


class Numbers(unittest.TestCase):
    def test_each_requirement_is_there_once(self):
        found = [number for number, _ in rows()]
        self.assertEqual(sorted(numbers()), sorted(found))

    def test_each_row_is_fulfilled_by_something(self):
        for number, fulfilled in rows():
            self.assertGreater(len(PLANNED.sub("", fulfilled).strip(" |")), 3, number)

    def test_rows_that_lead_to_other_rows_lead_to_rows(self):
        for number, fulfilled in rows():
            for other in re.findall(r"\bS\d-\w+\b", fulfilled):
                self.assertIn(other, numbers(), number)


class Names(unittest.TestCase):
    def test_each_name_exists(self):
        for number, fulfilled in rows():
            if PLANNED.search(fulfilled):
                continue
            for name in re.findall(r"`([^`]+)`", fulfilled):
                with self.subTest(number=number, name=name):
                    self.assertTrue(name in NO_NAMES or exists(name), f"{number}: {name} is nowhere")

    def test_names_that_do_not_exist_are_found(self):
        for name in ("lanes.wrokers", "workers", "pool/admision_test.cpp", "load/none.py", "laneway_pool_job_total", "LanewayNone",
                     "scripts/none", "scripts/bench none", "scripts/demo none", "msg=nothing", "/none", "Pool::none_such", "two words"):
            self.assertFalse(exists(name), name)
        for name in ("lanes.workers", "handler.exec.timeout", "kafka.group.id", "retry", "pool/admission_test.cpp", "ends/kill.py",
                     "alerts/test_alerts.py", "laneway_pool_jobs_total", "LanewayRejections", "scripts/bench sleep", "msg=abandoned",
                     'msg="dead letter"', "/readyz", "Pool::try_submit", "config/systemd/laneway@.service"):
            self.assertTrue(exists(name), name)


class Metrics(unittest.TestCase):
    def test_metrics_that_the_pages_name_exist(self):
        for page in sorted((ROOT / "docs").glob("*.md")):
            for name in re.findall(r"\b(laneway_(?:pool|lane|retries|breaker|downstream|commits|process)_\w+)", page.read_text()):
                with self.subTest(page=page.name, name=name):
                    self.assertTrue(is_metric(re.sub(r"_(bucket|sum|count)$", "", name)), f"{name} is nowhere")


if __name__ == "__main__":
    unittest.main()
