"""The alerts and the dashboard speak of metrics that there are, and each alert has its section of the runbooks."""
import json
import re
import subprocess
import unittest
from pathlib import Path

import held_page

ROOT = Path(__file__).resolve().parents[2]
RULES = (ROOT / "config/prometheus/laneway.rules.yml").read_text()
TESTS = (ROOT / "config/prometheus/laneway.rules.test.yml").read_text()
RUNBOOKS = (ROOT / "docs/runbooks.md").read_text()
TABLE = (ROOT / "lib/telemetry/metric_table.h").read_text()
DASHBOARD = json.loads((ROOT / "config/grafana/laneway.json").read_text())
INSTALLED = "/usr/share/doc/laneway/runbooks.md"
OWN_LABELS = {"job", "instance", "le", "alertname", "severity"}  # Prometheus' own, and those of every histogram


def metrics():
    """{name: labels} of the table."""
    entries = re.findall(r'\{"(\w+)", MetricType::(\w+), "[^"]*", "([^"]*)"', TABLE)
    found = {}
    for name, kind, labels in entries:
        for suffix in ("_bucket", "_count", "_sum") if kind == "histogram" else ("",):
            found[f"laneway_{name}{suffix}"] = set(filter(None, labels.split(",")))
    return found


def alerts():
    """{name: its lines}"""
    parts = re.split(r"^ +- alert: (\w+)$", RULES, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2]))


class Table(unittest.TestCase):
    def test_each_metric_is_published(self):
        sources = "".join(file.read_text() for folder in ("lib", "app") for file in (ROOT / folder).rglob("*.cpp"))
        for name in re.findall(r'\{"(\w+)", MetricType::', TABLE):
            self.assertIn(f'metric("{name}")', sources)


class Alerts(unittest.TestCase):
    def test_each_alert_uses_existing_metrics(self):
        known = metrics()
        self.assertIn("laneway_pool_duration_seconds_bucket", known)
        for text in [*alerts().values(), TESTS]:
            for name in re.findall(r"\blaneway_\w+", text):
                self.assertIn(name, known)

    def test_each_alert_uses_labels_of_its_metrics(self):
        known = metrics()
        for alert, text in alerts().items():
            names = re.findall(r"\blaneway_\w+", text)
            labels = set.union(*(known[name] for name in names)) | OWN_LABELS
            used = set(re.findall(r"\$labels\.(\w+)", text)) | set(re.findall(r"[{,](\w+)(?:=|!=|=~)\"", text))
            for group in re.findall(r"by \(([^)]*)\)", text):
                used |= {label.strip() for label in group.split(",")}
            self.assertEqual(set(), used - labels, alert)

    def test_each_alert_has_a_runbook(self):
        self.assertGreater(len(alerts()), 10)
        sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", RUNBOOKS, re.MULTILINE | re.DOTALL))
        self.assertEqual(set(alerts()), set(sections), "alerts, and sections of docs/runbooks.md")
        for alert, text in alerts().items():
            self.assertIn(f"runbook: {INSTALLED}#{alert.lower()}\n", text)
            for part in ("Means", "Confirm", "Do", "Over when"):
                self.assertIn(f"- **{part}**: ", sections[alert], alert)

    def test_the_runbook_of_readiness_has_each_reason(self):
        section = re.search(r"^## LanewayNotReady\n(.*?)^## ", RUNBOOKS, re.MULTILINE | re.DOTALL)[1]
        rows = re.findall(r"^ +\| `(\w+)` \|", section, re.MULTILINE)
        self.assertGreater(len(held_page.reason_codes()), 5)
        self.assertEqual(held_page.reason_codes(), rows)

    def test_the_command_of_the_operations_page_makes_links_of_them(self):
        page = (ROOT / "docs/operations.md").read_text()
        command = re.search(r"^sed '([^']*)' \S+/laneway\.rules\.yml > \S+$", page, re.MULTILINE)
        links = subprocess.run(["sed", command[1]], input=RULES, capture_output=True, text=True, check=True).stdout
        self.assertNotIn(INSTALLED, links)
        for alert in alerts():
            self.assertIn(f"runbook_url: https://wiki.example.org/laneway#{alert.lower()}\n", links)

    def test_each_alert_is_tested_to_fire_and_to_stay_quiet(self):
        for alert in alerts():
            self.assertRegex(TESTS, rf"alertname(: |=\"){alert}", alert)
            self.assertRegex(TESTS, rf"alertname: {alert}\b", f"{alert} must not fire for something")

    def test_links_of_the_runbooks(self):
        anchors = {heading.lower() for heading in re.findall(r"^## (\w+)$", RUNBOOKS, re.MULTILINE)}
        for anchor in re.findall(r"\]\(#(\w+)\)", RUNBOOKS):
            self.assertIn(anchor, anchors)


class Dashboard(unittest.TestCase):
    def queries(self):
        panels = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
        return panels + [variable["query"]["query"] for variable in DASHBOARD["templating"]["list"] if variable["type"] == "query"]

    def test_each_panel_uses_existing_metrics_and_labels(self):
        known = metrics()
        self.assertGreater(len(self.queries()), 12)
        for query in self.queries():
            names = re.findall(r"\blaneway_\w+", query)
            self.assertTrue(names, query)
            for name in names:
                self.assertIn(name, known)
            labels = set.union(*(known[name] for name in names)) | OWN_LABELS
            used = set(re.findall(r'[{,](\w+)(?:=|!=|=~)"', query))
            for group in re.findall(r"by \(([^)]*)\)", query):
                used |= {label.strip() for label in group.split(",")}
            self.assertEqual(set(), used - labels, query)

    def test_panels_do_not_overlap(self):
        taken = set()
        for panel in DASHBOARD["panels"]:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells
            self.assertLessEqual(place["x"] + place["w"], 24)


if __name__ == "__main__":
    unittest.main()
