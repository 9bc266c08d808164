"""Which service a command acts on, and what it gives away: stand-ins answer in the place of services."""
import http.server
import json
import os
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LANEWAY = os.environ.get("LANEWAY", str(ROOT / "build" / "app" / "laneway"))
LONGEST = 120  # a hang is a failure; nothing passes or fails by being faster
TOKEN = "0123456789abcdef0123456789abcdef"
CHANGES = (["suspend", "shop:0"], ["resume", "shop:0"], ["skip", "shop:0:1", "--reason", "late"], ["reload"], ["reload", "--dry-run"])


class StandIn(http.server.ThreadingHTTPServer):
    """A program with laneway's header that claims to be the service of a group and a file, and keeps what it gets."""
    daemon_threads = True

    def __init__(self, group, file="", **more):
        self.identity = {"group": group, "file": file, **more}
        self.posts, self.headers = [], ""
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.server_port}"

    def status(self):
        return {"version": "1", "uptime_seconds": 1, "members": 1, "ready": True, "reasons": [], "breaker": None, "lanes": [],
                "advice": [], **self.identity}


class Answer(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        self.server.headers += str(self.headers)
        self.send_response(200)
        self.send_header("X-Laneway", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        what = self.server.identity if self.path.startswith("/identity") else self.server.status()
        self.answer(json.dumps(what, ensure_ascii=False).encode())

    def do_POST(self):
        self.server.posts.append(self.path)
        self.answer("done\033[2J\u202e\n".encode())

    def log_message(self, *_):
        pass


class WhichService(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def service(self, *arguments, **more):
        service = StandIn(*arguments, **more)
        self.addCleanup(service.server_close)
        self.addCleanup(service.shutdown)
        return service

    def file(self, name, group, address, **admin):
        file = self.folder / name
        file.write_text(json.dumps({"kafka": {"bootstrap.servers": "h:1", "group.id": group}, "topics": ["shop"], "handler": "log",
                                    "admin": {"listen": address, **admin}}))
        return str(file)

    def token(self):
        file = self.folder / "token"
        file.write_text(TOKEN + "\n")
        file.chmod(0o600)
        return {"token_file": str(file)}

    def laneway(self, *arguments):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LANEWAY_")}
        return subprocess.run([LANEWAY, *arguments], text=True, capture_output=True, timeout=LONGEST, env=kept, check=False)

    def test_a_command_acts_on_the_service_of_its_file_only(self):
        service = self.service("shop-a")
        a, b = self.file("a.yaml", "shop-a", service.address), self.file("b.yaml", "shop-b", service.address)
        service.identity["file"] = a
        for command in (*CHANGES, ["status"]):
            with self.subTest(command):
                done = self.laneway(*command, "-c", b)
                self.assertEqual((69, ""), (done.returncode, done.stdout))
                for words in (b, "shop-b", service.address, a, "shop-a", "--admin HOST:PORT"):
                    self.assertIn(words, done.stderr)
                self.assertEqual([], service.posts)
        self.assertEqual(0, self.laneway("suspend", "shop:0", "-c", a).returncode)
        self.assertEqual(1, len(service.posts))
        self.assertEqual(0, self.laneway("suspend", "shop:0", "--admin", service.address).returncode)

    def test_two_services_of_one_group_are_distinguished_by_their_files(self):
        service = self.service("shop", "/etc/laneway/first.yaml")
        second = self.file("second.yaml", "shop", service.address)
        done = self.laneway("reload", "-c", second)
        self.assertEqual(69, done.returncode)
        self.assertIn("/etc/laneway/first.yaml", done.stderr)
        self.assertEqual([], service.posts)

    def test_the_token_goes_to_no_program_that_listens(self):
        for more in ({}, {"challenge": "00"}, {"challenge": "00", "proof": "00"}):
            service = self.service("shop", **more)
            file = self.file("shop.yaml", "shop", service.address, **self.token())
            for command in (*CHANGES, ["status"]):
                with self.subTest(f"{command} {more}"):
                    done = self.laneway(*command, "-c", file)
                    self.assertNotIn(TOKEN, service.headers)
                    self.assertNotIn("Bearer", service.headers)
                    if more and command != ["status"]:
                        self.assertEqual(69, done.returncode)
                        self.assertIn("did not show that it knows the token", done.stderr)
                        self.assertEqual([], service.posts)

    def test_no_text_of_a_service_controls_the_terminal(self):
        evil = "x\033[2J\u009b2J\u202e\u2066\u061c\x7f"
        service = self.service(evil)
        for command in (["status"], ["status", "--json"], ["suspend", "shop:0"]):
            with self.subTest(command):
                done = self.laneway(*command, "--admin", service.address)
                self.assertEqual(0, done.returncode, done.stderr)
                self.assertNotRegex(done.stdout + done.stderr, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2066-\u2069]")
        self.assertEqual(evil, json.loads(self.laneway("status", "--json", "--admin", service.address).stdout)["group"])


if __name__ == "__main__":
    unittest.main()
