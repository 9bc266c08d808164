"""Prints the dashboard's queries as Prometheus rules, so that promtool can read them. Argument: a file to write."""
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = {"$__rate_interval": "5m", "$job": ".*", "$topic": ".*"}


def filled_in(query):
    for variable, value in VARIABLES.items():
        query = query.replace(variable, value)
    return query


def rules():
    dashboard = json.loads((ROOT / "config/grafana/laneway.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    for number, query in enumerate(queries):
        yield {"record": f"query_{number}", "expr": filled_in(query)}


if __name__ == "__main__":  # JSON is YAML
    Path(sys.argv[1]).write_text(json.dumps({"groups": [{"name": "dashboard", "rules": list(rules())}]}))
