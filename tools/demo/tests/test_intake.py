"""What the image pipeline's front makes of requests: right ones, wrong ones, and those that do not end."""
import contextlib
import http.client
import io
import json
import re
import socket
import threading
import unittest
from unittest import mock

from tools.demo.images import intake
from tools.demo.images.intake import Requests, Server

IMAGE = b'{"id": "x1", "source": "http://a/b"}'
WITHIN = 30  # s


class Pipeline:
    """Accepts every image, when it may."""

    def __init__(self):
        self.images, self.may = [], threading.Event()
        self.may.set()

    def accept(self, name, source):
        self.may.wait(WITHIN)
        self.images.append((name, source))
        return 202, None

    def state(self):
        return {"depth": len(self.images)}


class Intake(unittest.TestCase):
    def setUp(self):
        self.server = Server(("127.0.0.1", 0), Requests)
        self.server.pipeline = Pipeline()
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def exchange(self, sent, ends=True):
        """Everything that the front answers to these bytes until it ends the connection."""
        with socket.create_connection(("127.0.0.1", self.server.server_port), timeout=WITHIN) as connection:
            connection.sendall(sent)
            if ends:
                connection.shutdown(socket.SHUT_WR)
            received = b""
            while piece := connection.recv(65536):
                received += piece
        return received.decode()

    def statuses(self, *sent, **options):
        return [int(status) for status in re.findall(r"HTTP/1\.1 (\d+) ", self.exchange(b"".join(sent), **options))]

    def head(self, *lines):
        return "".join(f"{line}\r\n" for line in ("POST /images HTTP/1.1", "Host: a", *lines, "")).encode()

    def post(self, body=IMAGE):
        return self.head(f"Content-Length: {len(body)}") + body

    def test_a_connection_has_several_images(self):
        self.assertEqual([202, 400, 202], self.statuses(self.post(), self.post(b"{}"), self.post(b'{"id": "2", "source": "https://c"}')))
        self.assertEqual([("x1", "http://a/b"), ("2", "https://c")], self.server.pipeline.images)

    def test_a_wrong_length_is_answered_and_ends_the_connection(self):
        for status, *lines in ((400, "Content-Length: abc"), (400, "Content-Length: -1"), (400, "Content-Length: 3_6"),
                               (400, "Content-Length: \uff13\uff16"), (400, "Content-Length: +36"), (400, "Content-Length: "),
                               (400, "Content-Length: 36", "Content-Length: 5"), (411, "Accept: */*"),
                               (411, "Transfer-Encoding: chunked"), (411, "Transfer-Encoding: chunked", "Content-Length: 36"),
                               (413, "Content-Length: 65537"), (413, "Content-Length: " + "9" * 5000)):
            answer = self.exchange(self.head(*lines) + IMAGE + self.post(), ends=False)
            self.assertEqual([str(status)], re.findall(r"HTTP/1\.1 (\d+) ", answer), lines)
            self.assertIn("\r\nConnection: close\r\n", answer)
        self.assertEqual([], self.server.pipeline.images)

    def test_a_body_is_read_to_its_length(self):
        self.assertEqual([202], self.statuses(self.head("Content-Length: 36", "Content-Length: 36"), IMAGE))
        self.assertEqual([400], self.statuses(self.head("Content-Length: 100"), IMAGE))

    def test_a_body_that_is_no_image_is_answered(self):
        for body in (b"[" * 60_000, b'{"a":' * 10_000, b"1" * 60_000, b"NaN", b'{"\xff"}', b"", b"[]", b'{"id": 1, "source": "http://a"}',
                     b'{"id": "a/b", "source": "http://a"}', b'{"id": "a", "source": "httpd"}', b'{"id": "a", "source": ["http://"]}'):
            self.assertEqual([400], self.statuses(self.post(body)), body[:40])

    def test_a_body_of_another_request_is_no_request(self):
        self.assertEqual([200], self.statuses(b"GET /state HTTP/1.1\r\nContent-Length: 5\r\n\r\n", self.post()))
        self.assertEqual([404], self.statuses(self.head("Content-Length: 5").replace(b"/images", b"/else"), self.post()))
        self.assertEqual([], self.server.pipeline.images)

    def test_a_client_that_is_silent_loses_its_connection(self):
        with mock.patch.object(Requests, "timeout", 0.05):
            self.assertEqual([408], self.statuses(self.head("Content-Length: 36"), b"{", ends=False))
            self.assertEqual([202], self.statuses(self.post(), ends=False))
            self.assertEqual([], self.statuses(b"POST /im", ends=False))

    def test_a_client_may_go_before_its_answer(self):
        self.server.pipeline.may.clear()
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), mock.patch.object(Requests, "answer", side_effect=BrokenPipeError):
            connection = socket.create_connection(("127.0.0.1", self.server.server_port), timeout=WITHIN)
            connection.sendall(self.post())
            self.server.pipeline.may.set()
            self.assertEqual(b"", connection.recv(1))
            connection.close()
        self.assertEqual("", errors.getvalue())

    def test_the_front_knows_when_everybody_has_an_answer(self):
        self.server.pipeline.may.clear()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=WITHIN)
        self.addCleanup(connection.close)
        connection.request("POST", "/images", IMAGE)
        with self.server.changed:
            self.assertTrue(self.server.changed.wait_for(lambda: self.server.unanswered == 1, WITHIN))
        self.assertFalse(self.server.wait_until_answered(0))
        self.server.pipeline.may.set()
        self.assertTrue(self.server.wait_until_answered(WITHIN))
        answer = connection.getresponse()
        self.assertEqual((202, {"id": "x1"}), (answer.status, json.loads(answer.read())))

    def test_the_bytes_that_a_client_still_sends_are_bounded(self):
        with mock.patch.object(intake, "UNREAD", 0.05):
            with socket.create_connection(("127.0.0.1", self.server.server_port), timeout=WITHIN) as connection, \
                    self.assertRaises(OSError):
                connection.sendall(self.head("Content-Length: -1"))
                while True:
                    connection.sendall(bytes(1 << 16))


if __name__ == "__main__":
    unittest.main()
