"""A laneway process as shipped: `laneway run -c FILE`, with its page, its status, its metrics and its journal."""
import contextlib
import json
import re
import urllib.error
import urllib.request

from ..ports import free_port
from .broker import ROOT
from .evidence import Tail
from .processes import Process

LANEWAY = ROOT / "build" / "app" / "laneway"


class Member(Process):
    """`config`: a file of config/examples. `settings`: {key: value}, passed by --set."""

    def __init__(self, name, config, folder, bootstrap, settings=None):
        self.journal = folder / f"{name}.journal"
        self.address = f"127.0.0.1:{free_port()}"
        own = {"kafka.bootstrap.servers": bootstrap, "journal.file": self.journal, "admin.listen": self.address}
        words = [word for key, value in {**own, **(settings or {})}.items() for word in ("--set", f"{key}={value}")]
        super().__init__(name, [LANEWAY, "run", "-c", ROOT / config, *words], folder)
        self.tail = Tail(self.journal)

    @property
    def page(self):
        return f"http://{self.address}/"

    def get(self, path):
        """The answer of its admin server; empty while there is none."""
        with contextlib.suppress(OSError, urllib.error.URLError):
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=5) as answer:
                return answer.read().decode()
        return ""

    def status(self):
        """The JSON of `laneway status`; {} while there is none."""
        text = self.get("/status")
        return json.loads(text) if text else {}

    def lanes(self):
        return self.status().get("lanes", [])

    def metric(self, name, **labels):
        """The sum of the series laneway_NAME that have these labels."""
        return metric_in(self.get("/metrics"), name, **labels)

    def finished(self):
        """Records that its journal has as finished so far."""
        return self.tail.finished()

    def events(self, message):
        """How often the log has this message."""
        return len(re.findall(rf'msg="?{re.escape(message)}"?( |$)', self.log, re.MULTILINE))


def metric_in(text, name, **labels):
    total = 0.0
    for line in text.splitlines():
        found = re.fullmatch(r"laneway_(\w+)(?:\{(.*)\})? (\S+)", line)
        if found and found[1] == name:
            have = dict(re.findall(r'(\w+)="([^"]*)"', found[2] or ""))
            if all(have.get(label) == str(value) for label, value in labels.items()):
                total += float(found[3])
    return total
