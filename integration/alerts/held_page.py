"""Which alerts fire when what a page of /metrics shows stays for two hours: a file for `promtool test rules`, made of live pages."""
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "config/prometheus/laneway.rules.yml"
SCRAPED = 'job="laneway",instance="one"'  # what Prometheus adds
HELD = "120m"


def reason_codes():
    """The reasons of /readyz, as the sources list them."""
    return re.findall(r'ReasonName\{ReasonCode::\w+, "(\w+)"', (ROOT / "lib/service/ready/reason_codes.h").read_text())


def series_of(page):
    """{series: value}"""
    found = {}
    for line in page.splitlines():
        if match := re.fullmatch(r"(laneway_\w+)(?:\{(.*)\})? (\S+)", line):
            found[f"{match[1]}{{{','.join(filter(None, (match[2], SCRAPED)))}}}"] = f"{float(match[3]):.9f}".rstrip("0").rstrip(".")
    return found


def firing(alert, **labels):
    """An expectation that this alert fires."""
    chosen = ",".join(f'{name}="{value}"' for name, value in {"alertname": alert, "alertstate": "firing", **labels}.items())
    return {"expr": f"group(ALERTS{{{chosen}}})", "eval_time": HELD, "exp_samples": [{"labels": "{}", "value": 1}]}


NONE_FIRES = {"expr": 'group by (alertname) (ALERTS{alertstate="firing"})', "eval_time": HELD, "exp_samples": []}


def held(name, page, *expectations):
    """A test in which the page is scraped once a minute, and never changes."""
    values = {**series_of(page), f"up{{{SCRAPED}}}": "1"}
    return {"name": name, "interval": "1m", "promql_expr_test": list(expectations),
            "input_series": [{"series": series, "values": f"{value}x120"} for series, value in values.items()]}


def restarted(name, lives, *expectations):
    """A test in which processes with these pages follow each other, each for a minute, with a scrape without an answer between."""
    pages = [series_of(page) for page in lives]
    series = {one: [f"{page[one]}x3 _" if one in page else "_x3 _" for page in pages] for page in pages for one in page}
    series[f"up{{{SCRAPED}}}"] = ["1x3 0"] * len(pages)
    return {"name": name, "interval": "15s", "promql_expr_test": list(expectations),
            "input_series": [{"series": one, "values": " ".join(values * 60)} for one, values in series.items()]}


def test_file(tests):
    """JSON is YAML."""
    return json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests})
