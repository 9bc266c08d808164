"""A token server and a KDC that a test may stop, make hang and start again, while the shared ones go on for others."""
import contextlib
import http.server
import re
import socket
import subprocess
import threading
import urllib.request
from pathlib import Path

from process import die_with_parent
from tools.kafka.access import kerberos
from tools.ports import free_port
from waits import PATIENCE, wait_until

TICKET_LIFETIME = 10  # s


class TokenDoor:
    """Stands before the token server. `mode`: work, fail (answers 500), hang (until the next mode), or refuse
    (nothing listens)."""

    def __init__(self, url):
        self.behind, self.mode, self.given, self.failed = url, "work", 0, 0
        self.changed = threading.Event()  # of this mode
        self.listen(0)
        self.url = f"http://127.0.0.1:{self.port}/token"

    def listen(self, port):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), self.handler())
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def become(self, mode):
        before, self.mode = self.mode, mode
        self.changed.set()
        self.changed = threading.Event()
        if mode == "refuse":
            self.server.shutdown()
            self.server.server_close()
        elif before == "refuse":
            self.listen(self.port)

    def handler(door):  # noqa: N805
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                changed = door.changed
                if door.mode == "hang":
                    door.failed += 1
                    changed.wait(PATIENCE)
                if door.mode == "fail":
                    door.failed += 1
                    return self.answer(500, b'{"error": "server_error"}')
                asked = urllib.request.Request(door.behind, body, {"Authorization": self.headers["Authorization"]})
                with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
                    self.answer(200, answer.read())
                door.given += 1

            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        return Handler


class Kdc:
    """A KDC of its own for the realm of the shared one, with brief tickets. `environment` leads there."""

    def __init__(self, folder, state):
        self.folder, self.port = folder, free_port()
        self.log = folder / "kdc.log"
        there = re.search(r"kdc = (127\.0\.0\.1:\d+)", Path(state["krb5_conf"]).read_text())[1]
        self.state = dict(state)
        for name in ("krb5_conf", "kdc_conf"):
            text = Path(state[name]).read_text().replace(there, f"127.0.0.1:{self.port}")
            text = text.replace("[libdefaults]", f"[libdefaults]\nticket_lifetime = {TICKET_LIFETIME}s")
            file = folder / name
            file.write_text(re.sub(r"FILE:\S+", f"FILE:{self.log}", text))
            self.state[name] = str(file)
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        with open(self.folder / "kdc.out", "ab") as log:
            self.process = subprocess.Popen(kerberos.kdc_command(self.folder / "kdc.pid"), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=kerberos.environment(self.state), preexec_fn=die_with_parent)
        wait_until("the KDC listens", lambda: accepts(self.port))

    def stop(self):
        self.process.kill()
        self.process.wait()

    def issued(self):
        """How many tickets kinit was given."""
        return len(re.findall("AS_REQ .* ISSUE", self.log.read_text()))

    def environment(self, tickets):
        return {"KRB5_CONFIG": self.state["krb5_conf"], "KRB5CCNAME": f"FILE:{tickets}"}


def accepts(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
