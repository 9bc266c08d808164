"""What the image pipeline answers for an image that cannot be fetched."""
import http.server
import json
import threading
import unittest
from unittest import mock

from tools.demo.images import sources
from tools.demo.images.refused import Refused
from tools.demo.images.sources import Sources
from tools.ports import free_port


class Origin(http.server.BaseHTTPRequestHandler):
    """Somebody's web server: /STATUS, /short, /nonsense, /SIZE-bytes"""

    def do_GET(self):
        if self.path == "/short":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        elif self.path == "/nonsense":
            self.wfile.write(b"nonsense\r\n\r\n")
        elif self.path.endswith("-bytes"):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(int(self.path[1:-6])))
        else:
            self.send_response(int(self.path[1:]))
            self.end_headers()

    def log_message(self, *arguments):
        pass


class Fetching(unittest.TestCase):
    def setUp(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url, self.sources = f"http://127.0.0.1:{server.server_port}", Sources()

    def fetch(self, source, delivery="c/images/0/1"):
        return self.sources.fetch(json.dumps({"source": source}), delivery)

    def refused(self, source, **options):
        with self.assertRaises(Refused) as caught:
            self.fetch(source, **options)
        return caught.exception.status

    def test_a_permanent_failure_is_rejected(self):
        for path in ("400", "401", "403", "404", "410", "451"):
            self.assertEqual(422, self.refused(f"{self.url}/{path}"), path)
        for source in ("http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://[::1/", "http:///a", "http://a b/", "file:///etc/hostname",
                       "http://127.0.0.1/a b", f"http://{'a' * 70}.example/", "http\ud800://a/", "http://127.0.0.1/\ud800", "", 5, None):
            self.assertEqual(422, self.refused(source), source)
        for body in ("", "[]", "{}", "[" * 50_000):
            with self.assertRaisesRegex(Refused, "names no source") as caught:
                self.sources.fetch(body, "")
            self.assertEqual(422, caught.exception.status)

    def test_a_temporary_failure_is_retried(self):
        for path in ("408", "429", "500", "503", "short", "nonsense"):
            self.assertEqual(500, self.refused(f"{self.url}/{path}"), path)
        self.assertEqual(500, self.refused(f"http://127.0.0.1:{free_port()}/"))  # nothing listens there
        with mock.patch("socket.getaddrinfo", side_effect=OSError("no such name")):
            self.assertEqual(500, self.refused("http://nobody.invalid/"))

    def test_a_record_that_keeps_failing_is_rejected_at_last(self):
        with mock.patch.object(sources.time, "monotonic", return_value=100.0) as clock:
            self.assertEqual(500, self.refused(f"{self.url}/503"))
            clock.return_value += sources.PATIENCE - 1
            self.assertEqual(500, self.refused(f"{self.url}/503"))
            clock.return_value += 1
            self.assertEqual(500, self.refused(f"{self.url}/503", delivery="c/images/0/2"))
            self.assertEqual(422, self.refused(f"{self.url}/503"))

    def test_an_image_that_arrives_restores_its_patience(self):
        with mock.patch.object(sources.time, "monotonic", return_value=100.0) as clock:
            self.assertEqual(500, self.refused(f"{self.url}/503"))
            clock.return_value += sources.PATIENCE
            self.assertEqual(bytes(3), self.fetch(f"{self.url}/3-bytes"))
            self.assertEqual(500, self.refused(f"{self.url}/503"))

    def test_so_many_failing_records_are_remembered(self):
        with mock.patch.object(sources, "MOST_FAILING", 2):
            for name in ("a", "b", "c", None):
                self.assertEqual(0, self.sources.fails(name, 1.0))
            self.assertEqual([0, 4], [self.sources.fails(name, 5.0) for name in ("a", "c")])

    def test_an_image_has_room_in_a_result(self):
        self.assertEqual(sources.LARGEST, len(self.fetch(f"{self.url}/{sources.LARGEST}-bytes")))
        self.assertEqual(422, self.refused(f"{self.url}/{sources.LARGEST + 1}-bytes"))
        self.assertLess(sources.LARGEST, 16 << 20)

    def test_an_image_that_drips_is_given_up(self):
        with mock.patch.object(sources, "WITHIN", -1.0), self.assertRaisesRegex(TimeoutError, "did not come"):
            sources.read_body(mock.Mock(read1=lambda size: b"x", length=None), sources.time.monotonic() - 1)


if __name__ == "__main__":
    unittest.main()
