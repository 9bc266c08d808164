"""The programs around the image pipeline: the S3 server, the web services and the front; for the demo and for its scenario."""
import http.client
import json
import os
import subprocess
from pathlib import Path

from ...failure import Failure
from ...ports import free_port
from . import moto
from .clients import Clients

ROOT = Path(__file__).resolve().parents[3]
PYTHON = "/usr/bin/python3"  # that has the Debian packages; another one may come first in PATH
WITHIN = 300  # s for an audit


class Around:
    """`program(name, command, variables)` starts a program and returns it. `folder`: for what is stored."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder / "stored"
        self.folder.mkdir()
        self.s3_port, self.port, self.front_port = free_port(), free_port(), free_port()
        self.s3_url, self.url = f"http://127.0.0.1:{self.s3_port}", f"http://127.0.0.1:{self.port}"
        self.clients = Clients(self.front_port, f"{self.url}/originals")
        self.fronts, self.acks = 0, folder / "images.acknowledged"

    def settings(self):
        """For --set, with __ in place of a dot: where config/examples/image-pipeline.yaml finds the services."""
        return {f"pools__{pool}__handler__http__url": f"{self.url}/{pool}" for pool in ("fetch", "store", "catalogue")}

    def start_s3(self):
        return self.start("s3", ["-m", "moto.server", "-H", "127.0.0.1", "-p", self.s3_port], moto.install())

    def start_services(self):
        return self.start("services", ["-m", "tools.demo.images.services", "--port", self.port, "--s3", self.s3_url, "--folder",
                                       self.folder])

    def start_front(self, bootstrap, topic, group, *options):
        self.fronts += 1
        return self.start(f"front-{self.fronts}", ["-m", "tools.demo.images.front", "--bootstrap", bootstrap, "--topic", topic, "--group",
                                                   group, "--port", self.front_port, "--acks", self.acks, *options])

    def start(self, name, words, path=ROOT):
        return self.program(name, [PYTHON, *words], self.variables(path))

    def variables(self, path=ROOT):
        return {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}

    @staticmethod
    def listens(port):
        """Whether there is an answer, whatever it is."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status > 0
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def store_becomes(self, **mode):
        """delay=seconds, status=503; nothing: as usual."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", "/mode", json.dumps(mode))
        if connection.getresponse().status != 204:
            raise Failure("the web services do not obey")
        connection.close()

    def audit(self):
        """{id: [what is wrong with it]} of all images of which anything is stored."""
        done = subprocess.run([PYTHON, "-m", "tools.demo.images.audit", "--s3", self.s3_url, "--folder", str(self.folder)], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=WITHIN, check=False,
                              env={**os.environ, **self.variables()})
        if done.returncode != 0:
            raise Failure(f"what is stored cannot be read: {done.stderr}")
        return json.loads(done.stdout)
