"""The blocks and commands of README.md and docs/*.md, and which commands a test does not run, each with the reason."""
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
STORY = "getting-started.md"
PACKAGED = "/usr/share/doc/laneway/"
RUNS = {"check", "version", "plan"}
# Never run. The first words of a command, and the reason.
NOT_RUN = {
    "scripts/demo": "builds laneway; embedded.demo runs `laneway demo`, which the script runs then",
    "scripts/test": "would run this test",
    "scripts/bench": "takes twenty minutes on an idle machine; unit.bench_command has its command line",
    "ninja": "builds a program that this test needs",
    "apt": "needs root; scripts/test-package installs and removes the package in a root of its own",
    "systemctl": "needs a systemd; embedded.systemd looks at the unit, kafka.systemd plays systemd's part",
    "journalctl": "needs a journal of systemd; scripts/test-package has one (machine_parts.py)",
    "editor": "is for a person",
}
# Not run where there is no real Kafka; kafka.documents runs them as they are written.
NEED_KAFKA = {
    "scripts/setup": "installs what a real Kafka needs",
    "scripts/kafka": "starts a real Kafka",
    "kafka_tool create": "the embedded cluster has its topics from its start",
}


def blocks(page, *languages):
    """(name of the file that the text before calls it, language, text) of each block in one of the languages."""
    found = re.findall(r"^(?:`([\w.]+)`:\n\n)?^ *```(\w*)\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [(name, language, body) for name, language, body in found if language in languages]


def commands(block):
    """The simple commands of shell text, as lists of words."""
    text = block.replace("\\\n", " ")
    for line in text.splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        command = []
        for word in words:
            if set(word) <= set("|&;"):
                yield command
                command = []
            else:
                command.append(word)
        if command:
            yield command


def in_repository(path):
    """Where a file of the package comes from; a path that does not exist for a file that no rule knows."""
    if not path.startswith(PACKAGED):
        return ROOT / path
    path = path.removeprefix(PACKAGED)
    if path.startswith("examples/"):
        rest = path.removeprefix("examples/")
        return next((place for place in (ROOT / "config" / rest, ROOT / "config/examples" / rest) if place.exists()), ROOT / path)
    if path.startswith(("prometheus/", "grafana/")):
        return ROOT / "config" / path
    return ROOT / "docs" / path


def is_laneway(command):
    return command[0] in ("laneway", "build/app/laneway")


def is_run(command, real_kafka):
    program = command[0].removeprefix("./")
    if program.endswith("/kafka_tool"):
        program = "kafka_tool " + next(word for word in command if word in ("create", "produce"))
    return program not in NOT_RUN and (real_kafka or program not in NEED_KAFKA)


def runs_alone(command):
    """Needs neither a service nor brokers."""
    if is_laneway(command):
        return command[1] in RUNS and not {"--connect", "--from"} & set(command) and "/etc/laneway" not in " ".join(command)
    return command[0] in ("echo", "python3") or command[0].startswith("config/examples/")
