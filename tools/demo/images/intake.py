"""The HTTP side of the front: it reads a request within bounds, and answers what is wrong with it. Standard library only.

Whatever cannot be read to its end ends the connection after the answer: the rest would look like another request.

Threads: one for each connection.
"""
import contextlib
import http.server
import json
import re
import socket
import sys
import threading
import time

from .refused import Refused

LONGEST_BODY = 64 * 1024  # bytes
SILENCE = 10.0  # s without a byte of a client, after which its connection ends
UNREAD = 2.0  # s for what a client still sends after an answer that ends its connection
ID = re.compile(r"[A-Za-z0-9-]{1,64}")


def length_of(headers):
    """Bytes of the body. Raises Refused."""
    texts = {text.strip(" \t") for text in headers.get_all("Content-Length", ())}
    if "Transfer-Encoding" in headers or not texts:
        raise Refused(411, "send the body with a Content-Length")
    text = texts.pop()
    if texts or not re.fullmatch("[0-9]+", text):
        raise Refused(400, "the Content-Length is not a number")
    if len(text) > 9 or int(text) > LONGEST_BODY:
        raise Refused(413, f"a body has at most {LONGEST_BODY} bytes")
    return int(text)


def image_of(body):
    """(id, source) of the image that a body names. Raises Refused."""
    try:
        image = json.loads(body)
        name, source = image["id"], image["source"]
        if ID.fullmatch(name) and source.startswith(("http://", "https://")):
            return name, source
    except RecursionError as error:
        raise Refused(400, "the body is nested too deeply") from error
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise Refused(400, 'an image is {"id": "…", "source": "http://…"}; an id has 1 to 64 letters, digits and hyphens')


class Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SILENCE

    def do_POST(self):
        with self.server.answering():
            try:
                if self.path != "/images":
                    raise Refused(404, "images are sent to /images")
                body = self.body()
            except Refused as refused:
                self.close_connection = True
                return self.answer(refused.status, {"error": str(refused)})
            try:
                name, source = image_of(body)
            except Refused as refused:
                return self.answer(refused.status, {"error": str(refused)})
            status, again = self.server.pipeline.accept(name, source)
            return self.answer(status, {"id": name}, again)

    def body(self):
        """Raises Refused."""
        length = length_of(self.headers)
        try:
            body = self.rfile.read(length)
        except TimeoutError as error:
            raise Refused(408, f"nothing came for {self.timeout:.0f} s") from error
        if len(body) < length:
            raise Refused(400, "the body is shorter than its Content-Length")
        return body

    def do_GET(self):
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # the body is not read
        self.answer(*((200, self.server.pipeline.state()) if self.path == "/state" else (404,)))

    def answer(self, status, body=None, again=None):
        text = json.dumps(body or {}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if again is not None:
            self.send_header("Retry-After", str(again))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def finish(self):
        """Reads for a while what is left: to close a connection with unread bytes resets it, and the answer can get lost."""
        super().finish()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(UNREAD)
            end = time.monotonic() + UNREAD
            while time.monotonic() < end and self.connection.recv(LONGEST_BODY):
                pass

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    pipeline = None

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.changed, self.unanswered = threading.Condition(), 0

    @contextlib.contextmanager
    def answering(self):
        with self.changed:
            self.unanswered += 1
            self.changed.notify_all()
        try:
            yield
        finally:
            with self.changed:
                self.unanswered -= 1
                self.changed.notify_all()

    def wait_until_answered(self, within):
        with self.changed:
            return self.changed.wait_for(lambda: not self.unanswered, within)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that is gone is no mistake of this program
            super().handle_error(request, client_address)
