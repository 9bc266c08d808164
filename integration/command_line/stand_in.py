"""A stand-in for the service that a command asks."""
import http.server
import json
import threading


class StandIn(http.server.ThreadingHTTPServer):
    """Answers each request with status(), which a subclass has; `asked` counts them there."""
    daemon_threads = True

    def __init__(self):
        self.asked = 0
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(self.server.status(), ensure_ascii=False).encode()
        self.send_response(200)
        self.send_header("X-Laneway", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
