"""Each row of wrong_command_lines.py gets its message."""
import contextlib
import http.server
import json
import os
import shlex
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from wrong_command_lines import ROWS

ROOT = Path(__file__).resolve().parents[2]
LANEWAY = os.environ.get("LANEWAY", str(ROOT / "build" / "app" / "laneway"))
LONGEST = 60  # a hang is a failure; nothing passes or fails by being faster
ORDERS = {"kafka": {"bootstrap.servers": "127.0.0.1:9", "group.id": "g"}, "topics": ["orders"], "handler": {"log": {}},
          "start_deadline": "1s", "admin": {"listen": "127.0.0.1:1"}}


class Other(http.server.BaseHTTPRequestHandler):
    """As Prometheus answers: a page in HTML for each path."""

    def do_GET(self):
        body = b"<!DOCTYPE html>\n<html>\n<title>Not laneway</title>\n</html>\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Helpful(Other):
    """Answers everything with 200."""
    do_POST = Other.do_GET


@contextlib.contextmanager
def other_server(answers):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@contextlib.contextmanager
def mute_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        def close_each():
            with contextlib.suppress(OSError):
                while True:
                    server.accept()[0].close()
        threading.Thread(target=close_each, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def closed_port():
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


class WrongCommandLines(unittest.TestCase):
    def test_each_gets_its_message(self):
        self.assertGreater(len(ROWS), 45)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LANEWAY_")}
        with tempfile.TemporaryDirectory(prefix="laneway-wrong-") as folder, closed_port() as closed, other_server(Other) as other, \
                other_server(Helpful) as helpful, mute_server() as mute:
            (Path(folder) / "orders.yaml").write_text(json.dumps(ORDERS))  # JSON is YAML
            for line, code, message in ROWS:
                with self.subTest(line):
                    here = {"closed": closed, "other": other, "helpful": helpful, "mute": mute}
                    done = subprocess.run([LANEWAY, *shlex.split(line.format(**here))], text=True, stdin=subprocess.DEVNULL, cwd=folder,
                                          capture_output=True, timeout=LONGEST, env=environment, check=False)
                    first = done.stderr.split("\n")[0]
                    message = message.format(**here)
                    if message.endswith(" ..."):
                        first = first[:len(message) - 4] + " ..."
                    self.assertEqual((code, message), (done.returncode, first), done.stderr)
                    self.assertEqual("", done.stdout)


if __name__ == "__main__":
    unittest.main()
