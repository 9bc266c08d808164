"""What an installed package does with parts of a machine that this one may not have: shells with their completions, and the
journal of systemd.

Runs inside the root: scripts/test-package calls it there, with zsh and fish installed, where nothing listens on the journal's
socket. usage: machine_parts.py. As root.
"""
import os
import pty
import select
import socket
import subprocess
import tempfile
import time

LONGEST = 60  # a hang is a failure; nothing passes or fails by being faster
JOURNAL = "/run/systemd/journal/socket"


def expect(true, said):
    if not true:
        raise SystemExit(f"machine_parts: {said}")


def read_until(terminal, wanted):
    seen = b""
    deadline = time.monotonic() + LONGEST
    while wanted not in seen:
        expect(time.monotonic() < deadline, f"{wanted} was not shown, but {seen}")
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 4096)
    return seen


def typed_into_zsh(begun, completed):
    """A word that is begun and a tab make the whole word."""
    shell, terminal = pty.fork()
    if shell == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    os.write(terminal, b"autoload -Uz compinit; compinit -u -D; PROMPT='ready''> '\n")
    read_until(terminal, b"ready> ")
    os.write(terminal, begun.encode() + b"\t")
    read_until(terminal, completed.encode())
    os.kill(shell, 9)
    os.waitpid(shell, 0)
    os.close(terminal)


def offered_by_fish(begun):
    asked = subprocess.run(["fish", "-c", f"complete -C '{begun}'"], capture_output=True, text=True,
                           timeout=LONGEST)
    return [line.split("\t")[0] for line in asked.stdout.splitlines()]


def shells():
    typed_into_zsh("laneway pla", "laneway plan ")
    typed_into_zsh("laneway run --con", "laneway run --config ")
    for begun, wanted in (("laneway pla", "plan"), ("laneway dlq red", "redrive"), ("laneway run --con", "--config")):
        offered = offered_by_fish(begun)
        expect(wanted in offered, f"fish offers {offered} for '{begun}'")
    expect("redrive" not in offered_by_fish("laneway run "), "fish offers everything everywhere")


def journal():
    """What a service says when its standard error is the journal's stream goes there as entries with fields."""
    os.makedirs(os.path.dirname(JOURNAL))
    entries = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    entries.bind(JOURNAL)
    entries.settimeout(LONGEST)
    with tempfile.TemporaryFile() as stream:
        stat = os.fstat(stream.fileno())
        command = ["laneway", "run", "-c", "/usr/share/doc/laneway/examples/log.yaml", "--set",
                   "kafka.bootstrap.servers=127.0.0.1:1", "--set", "start_deadline=1s"]
        ended = subprocess.run(command, stderr=stream, stdout=subprocess.DEVNULL, timeout=LONGEST, check=False,
                               env={**os.environ, "JOURNAL_STREAM": f"{stat.st_dev}:{stat.st_ino}"})
        stream.seek(0)
        written = stream.read()
    expect(ended.returncode == 69, f"run without a broker ended with {ended.returncode}: {written}")
    entry = entries.recv(65536)
    for wanted in (b"MESSAGE=", b"PRIORITY=", b"SYSLOG_IDENTIFIER=laneway\n", b"LANEWAY_"):
        expect(wanted in entry, f"{wanted} is not in {entry}")
    expect(b"level=" not in written, f"what went to the journal was also written: {written}")
    os.unlink(JOURNAL)
    os.rmdir(os.path.dirname(JOURNAL))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home  # fish writes there
        shells()
    journal()
