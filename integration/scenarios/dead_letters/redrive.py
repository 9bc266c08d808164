"""Dead letters are listed and sent back: none is lost, and none is sent twice, except those of the last second before a kill.

The letters bear the headers of Spring, of Kafka Connect, or none. The redrive is interrupted by SIGINT, twice, and by
kill -9, and goes on where it was.
"""
import collections
import contextlib
import json
import os
import pty
import re
import signal
import struct
import subprocess
import time

import harness
from harness import expect, expect_equal, wait_until

PARTITIONS, LETTERS, RATE = 3, 900, 600
SLOW = 150  # so that it is not at its end before it is interrupted
STARTED = int(time.time() - 24 * 3600) * 1000  # ms: when the records were first written


def spring(topic, partition, offset, message="Listener failed; boom"):
    """As DeadLetterPublishingRecoverer writes them."""
    return [["kafka_dlt-original-topic", topic.encode()],
            ["kafka_dlt-original-partition", struct.pack(">i", partition)],
            ["kafka_dlt-original-offset", struct.pack(">q", offset)],
            ["kafka_dlt-original-timestamp", struct.pack(">q", STARTED + offset)],
            ["kafka_dlt-original-timestamp-type", b"CreateTime"],
            ["kafka_dlt-original-consumer-group", b"shop"],
            ["kafka_dlt-exception-fqcn", b"org.springframework.kafka.listener.ListenerExecutionFailedException"],
            ["kafka_dlt-exception-message", message.encode()],
            ["kafka_dlt-exception-stacktrace", b"org.springframework...\n\tat com.example.Shop.sell(Shop.java:7)\n"]]


def connect(topic, partition, offset):
    """As Connect's DeadLetterQueueReporter writes them."""
    return [["__connect.errors.topic", topic.encode()],
            ["__connect.errors.partition", str(partition).encode()],
            ["__connect.errors.offset", str(offset).encode()],
            ["__connect.errors.connector.name", b"jdbc-sink"],
            ["__connect.errors.task.id", b"0"],
            ["__connect.errors.stage", b"VALUE_CONVERTER"],
            ["__connect.errors.class.name", b"org.apache.kafka.connect.json.JsonConverter"],
            ["__connect.errors.exception.class.name", b"org.apache.kafka.connect.errors.DataException"],
            ["__connect.errors.exception.message", b"Converting byte[] failed\x1b[31m"],
            ["__connect.errors.exception.stacktrace", b"org.apache..."]]


def record(partition, name, headers, timestamp=None):
    own = [["traceparent", b"00-1"], ["empty", b""], ["null", None]]
    return {"partition": partition, "key": name.encode().hex(), "value": (name + "\0\xff").encode("latin-1").hex(),
            "timestamp": timestamp or int(time.time() * 1000),
            "headers": [[key, value if value is None else value.hex()] for key, value in own + headers]}


class Shop:
    """The topic, its dead letters, and `laneway dlq` on them."""

    def __init__(self, run):
        self.run = run
        self.origin, self.letters = run.topic, run.topic + "-dlt"
        run.create(PARTITIONS)
        run.create(PARTITIONS, topic=self.letters)
        settings = run.settings("dlq", dead_letter={"topic": "{topic}-dlt"})
        self.file = run.folder / "dlq.yaml"
        self.file.write_text(json.dumps(settings))

    def write(self, records):
        self.run.write(records, self.letters)

    def read(self):
        return [r for r in map(json.loads, self.run.tool("read", self.origin)) if "value" in r]

    def names(self):
        """How often each record is in the origin."""
        return collections.Counter(bytes.fromhex(r["key"]).decode() for r in self.read())

    def end(self):
        """How many records the origin has had."""
        return sum(end for low, end in self.run.watermarks().values())

    def dlq(self, verb, *arguments, code=0):
        done = subprocess.run([harness.LANEWAY, "dlq", verb, "-c", self.file,
                               *map(str, arguments)], text=True, capture_output=True, timeout=harness.PATIENCE, check=False,
                              stdin=subprocess.DEVNULL, env=harness.inherited_environment())
        print(f"$ dlq {verb} {' '.join(map(str, arguments))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        expect_equal(code, done.returncode, f"exit code of dlq {verb} {arguments}")
        expect("\x1b" not in done.stdout + done.stderr, "a progress bar is drawn where there is no terminal")
        return done.stdout

    def redrive_on_a_terminal(self):
        """The output for a person."""
        ours, theirs = pty.openpty()
        redrive = subprocess.Popen([harness.LANEWAY, "dlq", "redrive", "-c", self.file, "--yes", "--rate", str(RATE)],
                                   stdin=theirs, stdout=theirs, stderr=theirs, env=harness.inherited_environment(),
                                   preexec_fn=harness.die_with_parent)
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # the other end is closed: Linux says so with an error
            while piece := os.read(ours, 65536):
                text += piece
        os.close(ours)
        expect_equal(0, redrive.wait(harness.PATIENCE), f"exit code of a redrive on a terminal: {text[-2000:]}")
        return text.decode()

    def interrupted_redrive(self, number, after):
        """Sends signal `number` when so many more records have arrived; the exit code."""
        before = self.end()
        redrive = self.run.command(f"redrive-{number}-{before}", "dlq", "redrive", "-c", str(self.file), "--yes", "--rate", str(SLOW))
        wait_until(f"{after} records are sent back", lambda: self.end() >= before + after, every=0.25)
        expect(redrive.running(), "the redrive had ended before it was interrupted")
        redrive.signal(number)
        return redrive.wait(harness.PATIENCE)


def scenario(run):
    shop = Shop(run)
    looks_at_them(shop)
    interrupted_by_a_person(shop)
    two_at_once(shop)
    interrupted_by_a_kill(shop)


def looks_at_them(shop):
    origin = shop.origin
    shop.write([record(0, "from-spring", spring(origin, 2, 41)),
                record(1, "from-connect", connect(origin, 1, 42), STARTED),
                record(1, "looped", spring(origin, 0, 43) + [["laneway-redrives", b"3"]]),
                record(1, "elsewhere", spring("payroll", 0, 44)),
                record(2, "cut", spring(origin, 0, 45) + [["laneway-truncated", b"9000000"]]),
                record(2, "ancient", connect(origin, 0, 46), 1_600_000_000_000),
                record(2, "stranger", [])])
    table = shop.dlq("list")
    expect("…" not in table, "a line of the table is cut although it goes to a pipe")
    expect("\x1b" not in table, "a header steers the terminal")
    expect(re.search(rf"^{shop.letters}:0:0 +{origin}:2:41 .* no .*Listener failed; boom", table, re.MULTILINE), "Spring's letter is not in the table")
    expect(re.search(rf"^{shop.letters}:1:0 +{origin}:1:42 .*Converting byte", table, re.MULTILINE), "Connect's letter is not in the table")
    expect("7 of 7 dead letters" in table, "the letters are not counted")
    expect("2 of 7 dead letters" in shop.dlq("list", "--reason", "converting", "--since", "2020-01-01"), "filter by reason")
    expect("0 of 7 dead letters" in shop.dlq("list", "--until", "2020-01-01"), "filter by time")
    lines = shop.dlq("list", "--json", "--origin", origin, "--header", "laneway-redrives=3").splitlines()
    expect_equal([(1, 1, 3, 43)], [(r["partition"], r["offset"], r["redrives"], r["origin"]["offset"])
                                   for r in map(json.loads, lines)], "list --json of the looped letter")
    text = shop.dlq("show", "0:0")
    for part in (f"{origin}:2:41", "boom", "com.example.Shop.sell", "kafka_dlt-original-offset: 41", "traceparent: 00-1",
                 "null: null", "from-spring", ".041Z (24 h ago)"):
        expect(part in text, f"show does not say {part}")
    shop.dlq("show", "0:7", code=66)
    shop.dlq("show", "9:0", code=66)
    shop.dlq("show", "zero", code=64)
    sends_back_what_can_go(shop)


def sends_back_what_can_go(shop):
    origin = shop.origin
    dry = shop.dlq("redrive")
    expect(f"2  would be sent to {origin}" in dry and "--yes" in dry, "the dry run does not count two")
    expect_equal([], shop.read(), "records after a dry run")
    done = shop.dlq("redrive", "--yes")
    for part in (f"2  sent to {origin}", "payroll", "3 times", "incomplete", "not a dead letter", "retention"):
        expect(part in done, f"the summary does not say {part}")
    back = {bytes.fromhex(r["key"]).decode(): r for r in shop.read()}
    for name, partition, timestamp in (("from-spring", 2, STARTED + 41), ("from-connect", 1, STARTED)):
        expected = record(partition, name, [["laneway-redrives", b"1"]], timestamp)
        expect_equal(expected, {key: back[name][key] for key in expected}, f"{name} as it came back")
    expect("nothing to send" in shop.dlq("redrive", "--yes"), "a second redrive has something to send")
    expect_equal(2, len(shop.read()), "records after the second redrive")
    done = shop.dlq("redrive", "--yes", "--present-time", "--until", "2021-01-01")
    expect(f"1  sent to {origin}" in done, "the ancient one is not sent with the present time")
    expect_equal(3, len(shop.read()), "records after the third redrive")


def letters(shop, kind):
    names = [f"{kind}-{i}" for i in range(LETTERS)]
    shop.write([record(i % PARTITIONS, name, (spring, connect)[i % 2](shop.origin, i % PARTITIONS, 100 + i))
                for i, name in enumerate(names)])
    return names


def interrupted_by_a_person(shop):
    names = letters(shop, "person")
    for _ in range(2):
        expect_equal(75, shop.interrupted_redrive(signal.SIGINT, LETTERS // 5), "exit code after SIGINT")
    names += letters(shop, "terminal")  # so many that the bar is drawn again and again
    text = shop.redrive_on_a_terminal()
    bars = re.findall(r"\r\[=*>? *\] +(\d+) %  (\d+) sent", text)
    expect(len(bars) >= 3, f"a terminal gets no progress bar: {text!r}")
    expect_equal(sorted(bars, key=lambda bar: int(bar[1])), bars, "the bars")
    last = text.rindex("\r[")
    expect("\r\033[K" in text[last:] and f" sent to {shop.origin}" in text[last:], f"the bar stays: {text[last:]!r}")
    found = shop.names()
    expect_equal({}, {name: found[name] for name in names if found[name] != 1}, "not sent back exactly once")


def two_at_once(shop):
    """The second takes over while the first is under way; then two begin at the same moment."""
    names = letters(shop, "both")
    before = shop.end()
    first = start_redrive(shop, "first", 5)  # so slow that it cannot be at its end
    wait_until("the first is under way", lambda: shop.end() > before)
    shop.dlq("redrive", "--yes")
    expect_equal(75, first.wait(harness.PATIENCE), "exit code of the redrive that gave way")
    expect("Another redrive" in first.log, "the redrive that gave way does not say why")
    again = letters(shop, "again")
    ended = [redrive.wait(harness.PATIENCE) for redrive in [start_redrive(shop, f"twin-{i}", 10 * RATE) for i in range(2)]]
    print(f"exit codes of two at once: {ended}")
    expect(0 in ended and set(ended) <= {0, 75}, f"exit codes of two at once: {ended}")
    found = shop.names()
    expect_equal({}, {name: found[name] for name in names + again if found[name] != 1}, "not sent back exactly once")


def start_redrive(shop, name, rate):
    return shop.run.command(f"redrive-{name}", "dlq", "redrive", "-c", str(shop.file), "--yes", "--rate", str(rate))


def interrupted_by_a_kill(shop):
    names = letters(shop, "kill")
    expect_equal(-9, shop.interrupted_redrive(signal.SIGKILL, LETTERS // 2), "exit code after kill -9")
    shop.dlq("redrive", "--yes")
    found = shop.names()
    expect_equal([], [name for name in names if found[name] == 0], "lost")
    twice = sum(found[name] > 1 for name in names)
    print(f"sent twice after the kill: {twice}")
    expect(twice < LETTERS // 2, f"{twice} were sent twice: nothing was remembered")
    expect("nothing to send" in shop.dlq("redrive", "--yes"), "a last redrive has something to send")


if __name__ == "__main__":
    harness.main("redrive", scenario)
