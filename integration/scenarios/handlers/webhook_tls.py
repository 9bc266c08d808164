"""A member posts each record over TLS to a server that speaks HTTP/2 alone, checks it by a certificate authority of the user's
own, and logs in with a token from a file: each record is a stream of a few connections, and no output has the token."""
import collections
import json
import re
import subprocess

import harness
from downstream import certificate
from harness import Promises, expect, expect_equal, wait_until
from tools.ports import free_port

PARTITIONS, RECORDS = 4, 800
TOKEN = "Bearer c4n4ry-of-the-web-service"
MOST_LOOPS = 4  # each has connections of its own


class Http2Server:
    """nghttpd: answers each POST with 200 and what was posted; says each header it was sent."""

    def __init__(self, run):
        self.certificate, self.key = certificate(run.folder, "server")
        self.file = run.folder / "nghttpd.log"
        wait_until("nghttpd listens", lambda: self.start(run))

    def start(self, run):
        """Whether the server listens. It needs a given port, which another program may take first."""
        self.port = free_port()
        with self.file.open("wb") as output:
            process = subprocess.Popen(["nghttpd", "-v", "--address=127.0.0.1", "--echo-upload", str(self.port), self.key,
                                        self.certificate], stdout=output, stderr=output, preexec_fn=harness.die_with_parent)
        run.writers.append(process)  # ended with the run
        wait_until("nghttpd listens or gives up", lambda: "listen 127" in self.said() or process.poll() is not None)
        return process.poll() is None

    def said(self):
        return re.sub(r"\x1b\[[0-9;]*m", "", self.file.read_text(errors="replace"))

    def received(self):
        """Connection and stream to its headers."""
        streams = collections.defaultdict(dict)
        for connection, stream, name, value in re.findall(
                r"^\[id=(\d+)\] \[[^\]]*\] recv \(stream_id=(\d+)[^)]*\) (:?[^:\s]+): (.*)$", self.said(), re.MULTILINE):
            expect(name not in streams[connection, stream], f"{name} was sent twice")
            streams[connection, stream][name] = value
        return streams


def scenario(run):
    run.create(PARTITIONS)
    run.watch_commits()
    server = Http2Server(run)
    token = run.folder / "token.secret"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    http = {"url": f"https://127.0.0.1:{server.port}/orders", "ca_file": str(server.certificate),
            "authorization_file": str(token)}
    service = run.service("member", handler={"simulate": None, "http": http}, lanes={"workers": 32})
    run.produce("--count", RECORDS, "--rate", 1000)
    run.wait_for_no_lag()
    outputs = {"status": service.get("/status"), "metrics": service.get("/metrics")}
    service.stop()
    outputs["log"] = service.log

    wait_until("nghttpd has told of each request", lambda: len(server.received()) >= RECORDS)
    streams = server.received()
    expect_equal({TOKEN}, {headers.get("authorization") for headers in streams.values()}, "authorizations")
    expect_equal(RECORDS, len({(headers["kafka-partition"], headers["kafka-offset"]) for headers in streams.values()}),
                 "records that the server was sent")
    expect_equal(RECORDS, len(streams), "requests")
    connections = len({connection for connection, _ in streams})
    expect(connections <= MOST_LOOPS, f"{connections} connections for {PARTITIONS * 32} requests at a time")
    for name, text in outputs.items():
        expect("c4n4ry" not in str(text), f"the token is told: {name}")
    report = run.judge(Promises(stopped_clean=True))
    expect_equal(RECORDS, report["processed"], "processed records")
    print(f"{RECORDS} requests on {connections} connections")
    wrong_authority(run, server)


def wrong_authority(run, server):
    """Without the user's authority the server is not trusted, and `check --connect` reports this."""
    settings = run.settings("untrusting", handler={"simulate": None,
                                                   "http": {"url": f"https://127.0.0.1:{server.port}/orders"}})
    file = run.folder / "untrusting.yaml"
    file.write_text(json.dumps(settings))
    checked = run.command("untrusting", "check", "--connect", "-c", str(file))
    code = checked.wait(harness.PATIENCE)
    expect(code != 0 and "certificate" in checked.log, f"check --connect ended with {code}: {checked.log}")


if __name__ == "__main__":
    harness.main("webhook_tls", scenario)
