"""Clients of the front: they send images, and come again when they are told to. Standard library only."""
import http.client
import itertools
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

WITHIN = 30.0  # s for an answer
REFUSED = 0  # the status of a request without an answer: nothing listens, or the front ended
AT_ONCE = 64  # requests of a Sender


class Reply(NamedTuple):
    name: str  # the image's id
    status: int
    again: str  # the header Retry-After
    sent: float  # s of the monotonic clock
    took: float  # s


class Clients:
    """`port`: of the front; `originals`: the address of the images. Any thread."""

    def __init__(self, port, originals):
        self.port, self.originals = port, originals
        self.numbers, self.lock = itertools.count(1), threading.Lock()
        self.replies = []
        self.sources = {}  # {id: number of its picture}

    def new(self):
        """The id of another image."""
        with self.lock:
            number = next(self.numbers)
            name = f"image-{number}"
            self.sources[name] = number
        return name

    def send(self, name, source=None):
        body = json.dumps({"id": name, "source": source or f"{self.originals}/{self.sources[name]}.jpg"})
        connection, sent = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN), time.monotonic()
        try:
            connection.request("POST", "/images", body)
            answer = connection.getresponse()
            answer.read()
            status, again = answer.status, answer.getheader("Retry-After", "")
        except (OSError, http.client.HTTPException):
            status, again = REFUSED, ""
        finally:
            connection.close()
        reply = Reply(name, status, again, sent, time.monotonic() - sent)
        with self.lock:
            self.replies.append(reply)
        return reply

    def at_once(self, count):
        """So many new images in requests that begin together: the replies."""
        with ThreadPoolExecutor(count) as threads:
            together = threading.Barrier(count)

            def one(name):
                together.wait()
                return self.send(name)
            return list(threads.map(one, [self.new() for _ in range(count)]))

    def state(self):
        """The front's figures."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN)
        try:
            connection.request("GET", "/state")
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def accepted(self):
        """{id} of the images for which a client has a 202."""
        with self.lock:
            return {reply.name for reply in self.replies if reply.status == 202}


class Sender:
    """Sends new images at a rate. An image that is refused comes again after its Retry-After, and a little more.

    It ends when all its images have been accepted, or at give_up().
    """

    def __init__(self, clients, rate, count):
        self.clients, self.rate, self.count = clients, rate, count
        self.stopping, self.replies, self.accepted = threading.Event(), [], set()
        self.threads = ThreadPoolExecutor(AT_ONCE)
        self.begun = time.monotonic()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        for index in range(self.count):
            if self.stopping.wait(max(0.0, self.begun + index / self.rate - time.monotonic())):
                return
            self.threads.submit(self.one, self.clients.new())

    def one(self, name):
        reply = self.clients.send(name)
        self.replies.append(reply)
        if reply.status == 202:
            self.accepted.add(name)
        elif not self.stopping.is_set():
            wait = float(reply.again or 1) * random.uniform(1, 1.5)
            timer = threading.Timer(wait, lambda: self.stopping.is_set() or self.threads.submit(self.one, name))
            timer.daemon = True
            timer.start()

    def sent_all(self):
        return not self.thread.is_alive()

    def done(self):
        return len(self.accepted) == self.count

    def give_up(self):
        self.stopping.set()
        self.thread.join()
        self.threads.shutdown()
