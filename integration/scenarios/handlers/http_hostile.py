"""A web service that resets, stalls in the middle of an answer, answers 10 MB, sends nonsense and redirects forever.

Every record is accepted once all the same, except those that are redirected: they are dead letters. Then the same records
are sent in batches, whose answers judge each record, as a whole, or not at all.
"""
import collections
import json
import socket
import struct

import harness
from harness import Promises, expect_equal, wait_until
from web_service import Quiet, WebService, record_of

PARTITIONS, RECORDS = 4, 1000
RESET, STALL, LARGE, LARGE_FAILURE, REDIRECT, NONSENSE = range(6)  # offset % 25; what is more is accepted
TEN_MB = b"x" * (10 << 20)


class Receiver(WebService):
    def __init__(self, handler):
        self.seen = collections.Counter()
        self.accepted = collections.Counter()
        self.requests = 0
        super().__init__(handler)

    def handle_error(self, request, client_address):
        pass  # the client hangs up on what it need not read

    def arrived(self, record):
        """How often, with this time."""
        with self.lock:
            self.seen[record] += 1
            return self.seen[record]

    def accept(self, record):
        with self.lock:
            self.accepted[record] += 1


class Answering(Quiet):
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        """The client sees a reset."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


class Hostile(Answering):
    def do_POST(self):
        self.read_body()
        record = record_of(self.headers)
        kind = record[1] % 25
        first = self.server.arrived(record) == 1
        if kind == REDIRECT:
            return self.answer(307, Location="/orders")
        if not first or kind not in (RESET, STALL, LARGE_FAILURE, NONSENSE):
            self.server.accept(record)
            return self.answer(200, TEN_MB if kind == LARGE else b"")
        if kind == RESET:
            return self.hang_up()
        if kind == LARGE_FAILURE:
            return self.answer(500, TEN_MB)
        self.close_connection = True
        if kind == NONSENSE:
            return self.wfile.write(b"220 mail.example.org ESMTP\r\n")
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        return self.rfile.read(1)  # until the client hangs up


class Batches(Answering):
    """Every third request fails as a whole; the others have a verdict for each record."""

    def do_POST(self):
        records = json.loads(self.read_body())
        with self.server.lock:
            self.server.requests += 1
            fails = self.server.requests % 3 == 0
        if fails:
            return self.answer(422)
        return self.answer(200, json.dumps([self.judge(record) for record in records]).encode())

    def judge(self, record):
        place = record["partition"], record["offset"]
        if place[1] % 25 == RESET and self.server.arrived(place) == 1:
            return {"outcome": "retry", "after": "10ms"}
        self.server.accept(place)
        return {"outcome": "done"}


def accepted_once(receiver, expected):
    expect_equal(expected, len(receiver.accepted), "accepted records")
    expect_equal({1}, set(receiver.accepted.values()), "how often a record was accepted")


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    receiver = Receiver(Hostile)
    run.produce("--count", RECORDS, "--size", 200, "--keys", 50)
    retry = {"attempts": 100, "backoff": "20ms", "max_backoff": "100ms"}
    # A time-out that is short is one of a right answer, too, when the machine is busy; the record would be accepted twice.
    service = run.service("hostile", handler={"simulate": None, "http": {"url": receiver.url(), "timeout": "10s"}},
                          retry=retry, dead_letter={"topic": "{topic}-dlt"}, lanes={"workers": 32})
    run.wait_for_no_lag()
    redirected = sum(offset % 25 == REDIRECT for low, end in run.watermarks().values() for offset in range(low, end))
    expect_equal(redirected, service.metric("dead_letters_total", reason="attempts_exhausted"), "dead letters")
    service.stop()
    accepted_once(receiver, RECORDS - redirected)
    report = run.judge(Promises(stopped_clean=True), letters=[run.topic + "-dlt"])
    expect_equal(RECORDS, report["processed"], "records that were processed or given up")
    in_batches(run, retry)


def in_batches(run, retry):
    receiver = Receiver(Batches)
    service = run.service("batches", kafka={"group.id": run.group + "-batches"},
                          handler={"simulate": None, "http": {"url": receiver.url(), "batch": {"records": 20}}},
                          retry=retry, lanes={"order": "key", "workers": 32})
    wait_until("every record was accepted", lambda: len(receiver.accepted) == RECORDS)
    service.stop()
    accepted_once(receiver, RECORDS)


if __name__ == "__main__":
    harness.main("http_hostile", scenario)
