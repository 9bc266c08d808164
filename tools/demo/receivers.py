"""Receivers of webhooks, as subscribers write them: each is a web server that verifies the signature by the Standard Webhooks
specification (version 1.0.0), keeps what it has accepted, and can fail or die. They run in threads of this process.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import threading
import time
import zlib
from typing import NamedTuple

TOLERANCE = 300  # s that a timestamp may be off
LONGEST_SILENCE = 600.0  # s that a dead receiver keeps a request


class Delivery(NamedTuple):
    """A request that was accepted."""

    id: str  # webhook-id
    body: bytes
    time: int  # ns since 1970


def new_secret():
    return "whsec_" + base64.b64encode(os.urandom(32)).decode()


def verified(secret, headers, body, now):
    """Whether one of the signatures is that of the secret, and the timestamp is about `now` (s since 1970)."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    identity, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not identity or not timestamp.isdigit() or abs(now - int(timestamp)) > TOLERANCE:
        return False
    mac = hmac.new(key, f"{identity}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    wanted = "v1," + base64.b64encode(mac).decode()
    return any(hmac.compare_digest(wanted, found) for found in headers.get("webhook-signature", "").split())


class Receiver(http.server.ThreadingHTTPServer):
    """A subscriber of this name. It answers 500 to the first attempt of about one event in `fails_every`.

    `old_secret`: one that is in the file, too, while the subscriber changes its secret; the receiver does not know it any more.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, name, events=None, fails_every=0, old_secret=False):
        super().__init__(("127.0.0.1", 0), Request)
        self.name, self.events, self.fails_every = name, events, fails_every
        self.secret, self.old_secret = new_secret(), new_secret() if old_secret else None
        self.lock, self.alive, self.refusal = threading.Lock(), threading.Event(), None
        self.alive.set()
        self.deliveries, self.failed, self.unverified, self.unanswered = [], set(), 0, 0
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self.thread.start()

    def entry(self):
        """Its part of the file of subscribers."""
        fields = {"name": self.name, "url": f"http://127.0.0.1:{self.server_port}/hooks",
                  "secret": [self.old_secret, self.secret] if self.old_secret else self.secret}
        return fields | ({"events": self.events} if self.events else {})

    def wants(self, kind):
        """Whether it gets events of this type."""
        return not self.events or any(kind == text or text.endswith("*") and kind.startswith(text[:-1]) for text in self.events)

    def die(self, status=None):
        """From now on it answers with this status; without one it takes requests, and answers none: the worst a subscriber can do."""
        self.refusal = status
        self.alive.clear()

    def revive(self):
        self.alive.set()

    def close(self):
        self.alive.set()
        self.shutdown()
        self.server_close()

    def answer(self, headers, body):
        """The status; None for a request that is not answered."""
        if not self.alive.is_set():
            with self.lock:
                self.unanswered += 1
            if self.refusal is None:
                self.alive.wait(LONGEST_SILENCE)
            return self.refusal
        if not verified(self.secret, headers, body, time.time()):
            with self.lock:
                self.unverified += 1
            return 400
        identity = headers["webhook-id"]
        with self.lock:
            if self.fails_every and zlib.crc32(identity.encode()) % self.fails_every == 0 and identity not in self.failed:
                self.failed.add(identity)
                return 500
            self.deliveries.append(Delivery(identity, body, time.time_ns()))
        return 204

    def handle_error(self, request, client_address):
        """A connection that ends in the middle of a request: laneway was killed, or did not wait any longer."""


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.answer(self.headers, body)
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def write_subscribers(file, receivers):
    """The file of subscribers: written beside, readable for nobody else, and renamed, so that nobody reads half of it."""
    new = file.with_suffix(".new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as output:
        output.writelines(f"- {json.dumps(receiver.entry())}\n" for receiver in receivers)  # JSON is YAML
    new.rename(file)
