"""The web service that records are posted to; each story says what it answers."""
import http.server
import threading


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
