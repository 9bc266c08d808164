"""The journal is rotated while records run: on SIGUSR1, which reads no edit of the configuration, on SIGHUP, on `laneway reload`, and
although the configuration is wrong. No line is lost.

A journal that cannot be opened again goes on in the file that it has, and the service says so.
"""
import signal
import subprocess

import harness
from harness import LANEWAY, PATIENCE, Promises, expect, expect_equal, inherited_environment, wait_until

RATE = 300  # records/s
FAILED = "the journal could not be opened again, and goes on in the file that it has"


def lines(file):
    return file.read_bytes().count(b"\n") if file.exists() else 0


class Rotation:
    def __init__(self, service):
        self.service, self.rotated = service, []

    def rename(self):
        """It goes on in the renamed file."""
        journal = self.service.journal
        renamed = journal.with_name(f"journal.{len(self.rotated) + 1}")
        journal.rename(renamed)
        self.rotated.append(renamed)
        before = lines(renamed)
        wait_until("more lines are in the renamed file", lambda: lines(renamed) > before + 10)
        expect(not journal.exists(), "there is a new file that nobody has asked for")

    def expect_new_file(self, why):
        wait_until(f"lines are in a new file after {why}", lambda: lines(self.service.journal) > 10)


def reload(service, code):
    done = subprocess.run([LANEWAY, "reload", "--admin", service.url().removeprefix("http://")], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=PATIENCE, env=inherited_environment())
    expect_equal(code, done.returncode, f"exit code of laneway reload: {done.stdout}")
    return done.stdout


def scenario(run):
    run.create(4)
    run.watch_commits()
    folder = run.folder / "journals"
    folder.mkdir()
    service = run.service("service", journal={"file": str(folder / "journal")})
    rotation = Rotation(service)
    run.produce_meanwhile("--rate", RATE)
    rotation.expect_new_file("the start")

    right = service.file.read_text()
    service.file.write_text("topics: nonsense: wrong\n")
    rotation.rename()
    service.signal(signal.SIGUSR1)
    rotation.expect_new_file("SIGUSR1")
    expect_equal([], service.events("reload"), "what a rotation reloads")
    service.file.write_text(right)
    rotation.rename()
    expect_equal("nothing has changed\n", reload(service, 0), "answer of a reload")
    rotation.expect_new_file("a reload")
    rotation.rename()
    service.signal(signal.SIGHUP)
    rotation.expect_new_file("SIGHUP")
    expect_equal(3, len(service.events("journal opened again")), "lines of the log about it")

    service.file.write_text("topics: nonsense: wrong\n")
    rotation.rename()
    service.signal(signal.SIGHUP)
    wait_until("the reload is refused", lambda: service.events("reload refused, nothing is changed"))
    rotation.expect_new_file("a refused reload")
    service.file.write_text(right)

    moved = folder.with_name("moved")
    folder.rename(moved)
    expect(FAILED in reload(service, 0), "the answer does not say that the journal has its old file")
    expect("No such file or directory" in "".join(service.events(FAILED)), "nor does the log say why")
    wait_until("a metric says so", lambda: service.metric("journal_reopen_failed") == 1)
    before = lines(moved / "journal")
    wait_until("lines are still written", lambda: lines(moved / "journal") > before + 10)
    moved.rename(folder)
    service.signal(signal.SIGUSR1)
    wait_until("the journal is opened again", lambda: service.metric("journal_reopen_failed") == 0)

    run.finish_writing()
    run.wait_for_no_lag()
    expect_equal(0, service.metric("journal_lost_lines_total"), "lost lines")
    service.stop()
    service.journal.write_bytes(b"".join(file.read_bytes() for file in [*rotation.rotated, service.journal]))
    run.judge(Promises(stopped_clean=True, duplicates=0))


if __name__ == "__main__":
    harness.main("journal_rotated", scenario)
