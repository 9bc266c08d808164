"""A laneway process with a file of config/examples, as it is shipped; only addresses, names and what a story adds are set."""
import re

from process import ROOT
from service import Service


class ExampleService(Service):
    """`config`: the path of the file in the repository. `changes`: {key: value} for --set, with __ in place of a dot."""

    def __init__(self, run, name, config, changes):
        text = (ROOT / config).read_text()
        self.journal_file = run.folder / f"{name}.journal"
        own = {"kafka.bootstrap.servers": run.bootstrap, "kafka.group.id": run.group, "topics": f"[{run.topic}]",
               "journal.file": self.journal_file, "admin.listen": "127.0.0.1:0"}
        own.update((key.replace("__", "."), value) for key, value in changes.items())
        words = [word for key, value in own.items() for word in ("--set", f"{key}={value}")]
        super().__init__(run, name, ["run", "-c", str(ROOT / config), *words])
        self.journal = self.journal_file
        drain = re.search(r"^ +drain: (\d+s)", text, re.MULTILINE)
        self.settings = {"lanes": {"drain": drain[1] if drain else "20s"}}  # for stop
