"""Text of services and servers that marks the direction of writing: it is shown escaped, so that no reader takes it for another text."""
import http.server
import json
import os
import ssl
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from stand_in import Answer, StandIn

ROOT = Path(__file__).resolve().parents[2]
LANEWAY = os.environ.get("LANEWAY", str(ROOT / "build" / "app" / "laneway"))
LONGEST = 120  # a hang is a failure; nothing passes or fails by being faster
MARKS = "\u202e\u2066\u061c\u200f"
ESCAPED = r"\u202e\u2066\u061c\u200f"


def laneway(*arguments):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LANEWAY_")}
    return subprocess.run([LANEWAY, *map(str, arguments)], text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST, env=kept,
                          check=False)


class Service(StandIn):
    """Has one lane whose workers are all busy, and finishes 1000 records between two questions."""

    def status(self):
        self.asked += 1
        lane = {"topic": f"orders{MARKS}", "partition": 0, "finished": 1000 * self.asked, "finished_bytes": 1000 * self.asked,
                "work_seconds": 10 * self.asked, "lag": 500 * self.asked, "in_flight": 8, "workers": 8, "queued": 0,
                "held_by": f"reason{MARKS}"}
        return {"lanes": [lane], "settings": {"workers": 8, "queue": 64, "memory_bytes": 1 << 28, "drain_seconds": 5},
                "processors": {"count": 2, "seconds": self.asked}}


class TextOfOthers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="laneway-text-of-others-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def harmless(self, done, code):
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        self.assertNotRegex(done.stdout + done.stderr, f"[{MARKS}]")

    def server(self, name):
        """A web server whose certificate is issued for `name`, and the file with the certificate."""
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-utf8", "-keyout", key,
                        "-out", certificate, "-subj", f"/CN={name}", "-days", "2"], check=True, capture_output=True)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"https://127.0.0.1:{server.server_port}/orders", certificate

    def configuration(self, **changes):
        path = self.folder / "laneway.yaml"
        path.write_text(json.dumps({"kafka": {"bootstrap.servers": "127.0.0.1:9", "group.id": "g"}, "topics": ["orders"],
                                    "handler": {"log": {}}, "start_deadline": "1s", **changes}))
        return path

    def test_a_plan_of_a_service_whose_topics_and_reasons_have_marks(self):
        service = Service()
        self.addCleanup(service.server_close)
        self.addCleanup(service.shutdown)
        done = laneway("plan", "--from", f"127.0.0.1:{service.server_port}", "--window", "100ms")
        self.harmless(done, 0)
        self.assertIn(f"Some lanes do not keep up: orders{ESCAPED}:0 (held: reason{ESCAPED})", done.stdout)

    def test_a_check_of_a_server_whose_certificate_has_marks(self):
        url, certificate = self.server(f"shop{MARKS}")
        done = laneway("check", "--connect", "-c", self.configuration(handler={"http": {"url": url, "ca_file": str(certificate)}}))
        self.harmless(done, 69)
        self.assertIn("its certificate is for another host name", done.stderr)
        self.assertIn(f"shop{ESCAPED}", done.stderr)

    def test_a_check_of_a_configuration_that_has_marks(self):
        kafka = {"bootstrap.servers": "127.0.0.1:9", "group.id": f"group{MARKS}"}
        handler = {"exec": {"command": ["/bin/sh", f"script{MARKS}"]}}
        done = laneway("check", "--verbose", "-c", self.configuration(kafka=kafka, handler=handler))
        self.harmless(done, 0)
        self.assertIn(f'exec starts /bin/sh "script{ESCAPED}"', done.stdout)
        self.assertIn(f'group.id: "group{ESCAPED}"', done.stdout)


if __name__ == "__main__":
    unittest.main()
