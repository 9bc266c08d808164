#!/usr/bin/python3
"""The web service that records are posted to, as a program of its own with its own journal.

usage: downstream.py JOURNAL [CERTIFICATE KEY CERTIFICATE KEY CERTIFICATE KEY]
With certificates it speaks TLS, with the second one during an outage of the kind tls, and with the third one when it is renewed.
The program prints its port, then obeys each line of its input, a JSON object of fields of Mode, and ends with its input. A
line of the journal is one record of one request; those of a request that is done are written before the answer is sent. A
request whose answer cannot be delivered is not done. Downstream, below, starts the program and gives the orders.
"""
import asyncio
import collections
import contextlib
import json
import random
import socket
import ssl
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import NamedTuple, Optional

from process import die_with_parent
from waits import expect

DOORS = ("refuse", "tls")  # kinds of which a client hears before it has sent a request
QUICK, SLOW = (0.002, 0.012), (0.3, 0.9)  # s


class Mode(NamedTuple):
    """The answer to requests.

    `kind`: work; a status; hang (no answer comes until the next order); reset (the request is read, then its connection is
    reset); refuse (nothing listens, and open connections are reset); tls (the same, and new connections get a wrong
    certificate); renewed (work, and new connections get a new right certificate). `restart` closes every connection that has no request, the others after their answers, and leaves the mode as
    it was.
    """

    kind: str = "work"
    share: float = 1.0  # of the requests that it concerns; the others work
    retry_after: Optional[int] = None  # s
    beyond: int = 0  # the number of requests a second that work nevertheless
    slow: float = 0.0  # share of the work that is slow
    takes: float = 0.0  # s, of each request, instead of a random time
    capacity: int = 0  # most requests at work at once; the others wait in the order of their arrival; 0: no limit
    poison: float = 0  # per cent of the records, the same ones each time, that never work
    poison_kind: str = "500"  # what becomes of those
    only: str = ""  # the kind concerns requests with such a key, which begins so; the others work


def is_poison(number, per_cent):
    """Whether the record with this number never works. The numbers have no pattern; `per_cent` has at most one decimal."""
    drawn = zlib.crc32(str(number).encode())
    return drawn % 100 + drawn // 100 % 10 / 10 < per_cent


class Slots:
    """The places at which requests are worked on."""

    def __init__(self):
        self.most, self.busy, self.waiting = 0, 0, collections.deque()

    def allow(self, most):
        self.most = most
        self.admit()

    def room(self):
        return not self.most or self.busy < self.most

    def admit(self):
        while self.waiting and self.room():
            self.busy += 1
            self.waiting.popleft().set_result(None)

    @contextlib.asynccontextmanager
    async def one(self):
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        self.admit()
        await turn
        try:
            yield
        finally:
            self.busy -= 1
            self.admit()


class Server:
    def __init__(self, journal, tls):
        self.journal, self.mode, self.slots = journal, Mode(), Slots()
        self.right, wrong, renewed = map(tls_of, (tls[:2], tls[2:4], tls[4:]))
        self.certificates = {"tls": wrong, "renewed": renewed}
        self.changed = asyncio.Event()  # of this mode
        self.server, self.port = None, 0
        self.writers, self.idle, self.ending = set(), set(), set()  # open connections, those without a request, those that end
        self.second, self.in_second = 0, 0

    async def listen(self):
        tls = self.certificates.get(self.mode.kind, self.right)
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port, backlog=256, ssl=tls)
        self.port = self.server.sockets[0].getsockname()[1]

    async def become(self, mode):
        if mode.kind == "restart":
            return self.restart()
        before, self.mode = self.mode, mode
        self.slots.allow(mode.capacity)
        door, new = (kind if kind in (*DOORS, "renewed") else None for kind in (before.kind, mode.kind))
        if door != new:
            self.server.close()
            for writer in self.writers:
                reset(writer)
            if new != "refuse":
                await self.listen()
        self.changed.set()
        self.changed = asyncio.Event()

    def restart(self):
        self.ending |= self.writers - self.idle
        for writer in self.idle:
            writer.close()

    async def serve(self, reader, writer):
        self.writers.add(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while writer not in self.ending:
                head = await reader.readuntil(b"\r\n\r\n")
                self.idle.discard(writer)
                await self.request(reader, writer, head.decode())
                self.idle.add(writer)
        for writers in (self.writers, self.idle, self.ending):
            writers.discard(writer)
        writer.close()

    async def request(self, reader, writer, head):
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await reader.readexactly(int(headers["content-length"]))
        records, begun = list(records_of(headers, body)), time.time_ns()
        kind = await self.work_on(reader, records)
        status = int(kind) if kind.isdigit() else None
        if writer.is_closing() or reader.at_eof() or self.mode.kind in DOORS:
            status = None
        entry = {"member": first.split(" ")[1].strip("/"), "begun": begun, "ended": time.time_ns(), "status": status}
        self.journal.write("".join(json.dumps({**record, **entry}) + "\n" for record in records))
        if status is None:
            reset(writer)
            raise ConnectionResetError
        writer.write(answer(status, self.mode.retry_after))

    async def work_on(self, reader, records):
        """The status, after the time that the work takes; or another kind, where the request gets no answer."""
        mode = self.mode
        concerned = not mode.only or any(record["key"].startswith(mode.only) for record in records)
        kind = self.kind_of_call(mode).replace("renewed", "work") if concerned else "work"
        if kind == "work" and any(is_poison(record["number"], mode.poison) for record in records):
            kind = mode.poison_kind
        if kind == "hang":
            gone = asyncio.ensure_future(reader.read(1))  # a member sends nothing before it has its answer
            changed = asyncio.ensure_future(self.changed.wait())
            await asyncio.wait({gone, changed}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            changed.cancel()
        if kind == "work":
            async with self.slots.one():
                await asyncio.sleep(mode.takes or random.uniform(*(SLOW if random.random() < mode.slow else QUICK)))
            return "204"
        return kind

    def kind_of_call(self, mode):
        if int(time.monotonic()) != self.second:
            self.second, self.in_second = int(time.monotonic()), 0
        self.in_second += 1
        return mode.kind if self.in_second > mode.beyond and random.random() < mode.share else "work"


def tls_of(files):
    if not files:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return context


def reset(writer):
    """The other side sees a reset, and not an orderly end, unless it has left before."""
    connection = None if writer.is_closing() else writer.get_extra_info("socket")
    if connection is not None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def records_of(headers, body):
    """The journal's line for each record of a request; a record's value begins with its number."""
    if "kafka-topic" in headers:
        yield {"topic": headers["kafka-topic"], "partition": int(headers["kafka-partition"]),
               "offset": int(headers["kafka-offset"]), "key": headers["kafka-key"], "attempt": int(headers["laneway-attempt"]),
               "number": int(body.split(b".")[0])}
        return
    for record in json.loads(body):
        fields = {name: record[name] for name in ("topic", "partition", "offset", "key", "attempt")}
        yield {**fields, "number": int(record["value"].split(".")[0])}


def answer(status, retry_after):
    lines = [f"HTTP/1.1 {status} ."]
    lines += [] if status == 204 else ["Content-Length: 0"]
    lines += [] if retry_after is None or status == 204 else [f"Retry-After: {retry_after}"]
    return "\r\n".join([*lines, "", ""]).encode()


async def main(path, *tls):
    with open(path, "w", encoding="utf-8", buffering=1) as journal:
        server = Server(journal, tls)
        await server.listen()
        print(server.port, flush=True)
        orders = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
        while line := await orders.readline():
            await server.become(Mode(**json.loads(line)))
            print("done", flush=True)
        await server.become(Mode("refuse"))
        await asyncio.sleep(0.1)  # the last requests write their lines


def certificate(folder, name):
    """Files of a new certificate for 127.0.0.1, which is its own authority, and of its key."""
    files = [str(folder / f"{name}-{part}.pem") for part in ("certificate", "key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-out", files[0], "-keyout", files[1], "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True, timeout=60)
    return files


class Downstream:
    """The program, as its caller sees it. One thread at a time."""

    def __init__(self, folder, name, tls=False, **mode):
        self.journal = folder / f"{name}.requests"
        right, wrong, renewed = (certificate(folder, name) if tls else [] for name in ("right", "wrong", "renewed"))
        self.process = subprocess.Popen([sys.executable, __file__, str(self.journal), *right, *wrong, *renewed], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.authority = self.bundle(folder / "authorities.pem", right[0], renewed[0]) if tls else None
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.process.stdout.readline().strip()}"
        self.usual = mode
        self.become("work")

    @staticmethod
    def bundle(file, *certificates):
        """The authorities of the certificates that are right."""
        file.write_text("".join(Path(name).read_text() for name in certificates))
        return str(file)

    def become(self, kind, **mode):
        """Returns when the mode holds."""
        self.process.stdin.write(json.dumps({"kind": kind, **self.usual, **mode}) + "\n")
        self.process.stdin.flush()
        expect(self.process.stdout.readline() == "done\n", "the web service has ended")

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def requests(self):
        """One map for each record of each request so far."""
        return [json.loads(line) for line in self.journal.read_text().splitlines(keepends=True) if line.endswith("\n")]


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
