"""The web service that records are posted to; each story chooses its answers."""
import http.server
import threading

from waits import PATIENCE


class WebService(http.server.ThreadingHTTPServer):
    """Serves at once, so a subclass sets its fields first. `judge` gives the status for a request's headers and body."""
    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = 128

    def __init__(self, handler=None):
        super().__init__(("127.0.0.1", 0), handler or Request)
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_port}/orders"


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def read_body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))


class Request(Quiet):
    def do_POST(self):
        body = self.read_body()
        status = self.server.judge(self.headers, body)
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()


def record_of(headers):
    return int(headers["Kafka-Partition"]), int(headers["Kafka-Offset"])


class Gate(WebService):
    """Answers the records of the partitions that it keeps when it is opened, and all others at once."""

    def __init__(self, keeps=()):
        self.keeps, self.opened, self.kept = set(keeps), threading.Event(), 0
        super().__init__()

    def judge(self, headers, _):
        if record_of(headers)[0] in self.keeps and not self.opened.is_set():
            with self.lock:
                self.kept += 1
            self.opened.wait(2 * PATIENCE)
        return 204
