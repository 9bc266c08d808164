"""The dashboard's and the alerts' queries, evaluated by promtool on the series of a live page of /metrics.

Alerts must not fire there, so of them each selector is asked alone; and each label that anything groups by or names must be on
each of its series.
"""
import json
import re
from pathlib import Path

import dashboard_rules

ROOT = Path(__file__).resolve().parents[2]
SCRAPED = 'job="laneway",instance="one"'  # what Prometheus adds
OF_CERTIFICATES = "laneway_client_certificate_"  # only of a client that has one: scenarios/access/access.py looks at these
SELECTOR = re.compile(r"\b(laneway_\w+)(\{[^}]*\})?")


def alerts():
    """The text of each alert."""
    return re.split(r"^ +- alert: ", (ROOT / "config/prometheus/laneway.rules.yml").read_text(), flags=re.MULTILINE)[1:]


def labels_of(text):
    """What it groups by, and what legends and summaries name."""
    named = set(re.findall(r"\$labels\.(\w+)|\{\{(\w+)\}\}", text))
    grouped = re.findall(r"by \(([^)]*)\)", text)
    return {label for pair in named for label in pair if label} | {label.strip() for group in grouped for label in group.split(",")}


def expressions():
    """Each must find something."""
    dashboard = json.loads((ROOT / "config/grafana/laneway.json").read_text())
    yield from (rule["expr"] for rule in dashboard_rules.rules())
    texts = [target["expr"] + target["legendFormat"] for panel in dashboard["panels"] for target in panel["targets"]]
    variables = [one["query"]["query"] for one in dashboard["templating"]["list"] if one["type"] == "query"]
    for text in [*texts, *alerts(), *(re.sub(r"label_values\((.*), (\w+)\)", r"\1 by (\2)", one) for one in variables)]:
        selectors = SELECTOR.findall(text)
        for name, matchers in selectors:
            yield name + dashboard_rules.filled_in(matchers)
            yield name + dashboard_rules.filled_in(matchers).replace("!=", "=")  # what is left out must exist to be left out
            yield from (f'{name}{{{label}!=""}}' for label in labels_of(text))


def test_file(page):
    """What `promtool test rules` is to read."""
    series = []
    for line in page.splitlines():
        if found := re.fullmatch(r"(laneway_\w+)(?:\{(.*)\})? \S+", line):
            series.append(f"{found[1]}{{{','.join(filter(None, (found[2], SCRAPED)))}}}")
    tests = [{"expr": f"vector(1) and on() ({one})", "eval_time": "6m", "exp_samples": [{"labels": "{}", "value": 1}]}
             for one in sorted(set(expressions())) if OF_CERTIFICATES not in one]
    return json.dumps({"rule_files": [], "evaluation_interval": "1m", "tests": [{  # JSON is YAML
        "interval": "1m", "input_series": [{"series": one, "values": "1+1x10"} for one in series], "promql_expr_test": tests}]})
