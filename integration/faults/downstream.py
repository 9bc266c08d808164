#!/usr/bin/python3
"""The web service that members post to, as a program of its own with its own journal: downstream.py JOURNAL

It prints its port, then obeys each line of its input: `work`, `503`, `hang` (no answer comes until the next line) or `refuse`
(nobody listens). It ends with its input. A line of the journal is one request; that of a request that is done is written before
the answer is sent. A request whose answer can reach nobody is not done.
"""
import asyncio
import json
import random
import sys
import time

WORK, SLOW, SLOW_ONES = (0.002, 0.012), (0.3, 0.9), 0.02  # s, s, fraction


class Downstream:
    def __init__(self, journal):
        self.journal, self.mode = journal, "work"
        self.changed = asyncio.Event()  # of this mode
        self.server, self.port, self.writers = None, 0, set()

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port, backlog=256)
        self.port = self.server.sockets[0].getsockname()[1]

    async def become(self, mode):
        if self.mode == "refuse" and mode != "refuse":
            await self.listen()
        if mode == "refuse" and self.mode != "refuse":
            self.server.close()
        self.mode = mode
        self.changed.set()
        self.changed = asyncio.Event()
        if mode == "refuse":
            for writer in self.writers:
                writer.transport.abort()

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await self.request(reader, writer, head.decode())
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.writers.discard(writer)
            writer.transport.abort()

    async def request(self, reader, writer, head):
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await reader.readexactly(int(headers["content-length"]))
        entry = {"member": first.split(" ")[1].strip("/"), "topic": headers["kafka-topic"],
                 "partition": int(headers["kafka-partition"]), "offset": int(headers["kafka-offset"]),
                 "key": headers["kafka-key"], "number": int(body.split(b".")[0]), "attempt": int(headers["laneway-attempt"]),
                 "begun": time.time_ns()}
        status = await self.outcome(reader)
        if writer.is_closing() or reader.at_eof() or self.mode == "refuse":
            status = None
        self.journal.write(json.dumps({**entry, "ended": time.time_ns(), "status": status}) + "\n")
        if status is None:
            raise ConnectionResetError
        writer.write(f"HTTP/1.1 {status} .\r\nContent-Length: 0\r\n\r\n".encode() if status != 204 else
                     b"HTTP/1.1 204 .\r\n\r\n")

    async def outcome(self, reader):
        """The status, after the time that the work takes; None where the request gets no answer."""
        if self.mode == "hang":
            gone = asyncio.ensure_future(reader.read(1))  # a member sends nothing before it has its answer
            changed = asyncio.ensure_future(self.changed.wait())
            await asyncio.wait({gone, changed}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            changed.cancel()
            return None
        if self.mode == "503":
            return 503
        await asyncio.sleep(random.uniform(*(SLOW if random.random() < SLOW_ONES else WORK)))
        return 204


async def main(path):
    with open(path, "w", encoding="utf-8") as journal:
        downstream = Downstream(journal)
        await downstream.listen()
        print(downstream.port, flush=True)
        orders = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
        while line := await orders.readline():
            await downstream.become(line.decode().strip())
            print("done", flush=True)
        await downstream.become("refuse")
        await asyncio.sleep(0.1)  # the last requests write their lines


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
