"""Whether an alert of config/prometheus fires on the metrics that a run has scraped: promtool evaluates the rule as it is shipped.

Rules look at minutes, and a demo lasts a minute: one second of the run stands for one minute of the rule. A rule that compares two
counters does not notice, because both rates shrink alike.
"""
import json
import re
import subprocess

from ..failure import Failure
from .broker import ROOT

RULES = ROOT / "config" / "prometheus" / "laneway.rules.yml"
LONGEST = 300


class Scrapes:
    """The counters of some metrics over time, a sample a second."""

    def __init__(self, *names):
        self.names, self.count, self.series = names, 0, {}

    def add(self, text):
        """`text`: of /metrics; empty when it could not be read: then the sample is missing."""
        for line in text.splitlines():
            found = re.fullmatch(r"((\w+)(?:\{.*\})?) (\S+)", line)
            if found and found[2] in self.names:
                self.series.setdefault(found[1], {})[self.count] = found[3]
        self.count += 1

    def test_of(self, alert):
        """The promtool test, as a dict: at the end of the samples the alert fires."""
        rows = [{"series": series, "values": " ".join(values.get(number, "_") for number in range(self.count))}
                for series, values in self.series.items()]
        query = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) > bool 0'
        return {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [{
            "interval": "1m", "input_series": rows,
            "promql_expr_test": [{"expr": query, "eval_time": f"{self.count - 1}m", "exp_samples": [{"labels": "{}", "value": 1}]}]}]}

    def fires(self, alert, folder):
        """Asks promtool; Failure if it cannot say."""
        file = folder / "alert.test.json"
        file.write_text(json.dumps(self.test_of(alert)))  # JSON is YAML
        done = subprocess.run([ROOT / "scripts" / "promtool", "test", "rules", file], text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LONGEST, check=False)
        if done.returncode != 0 and "FAILED" not in done.stdout + done.stderr:
            raise Failure(f"promtool could not evaluate the rule: {done.stdout}{done.stderr}")
        return done.returncode == 0
