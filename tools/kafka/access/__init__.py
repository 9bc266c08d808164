"""A Kafka with a listener for each way to log in, with certificates, a token server and a Kerberos realm.

scripts/kafka start --access makes one. `access.json` in the cluster's folder says where everything is, for scenarios and people:
addresses by listener, certificates, key tables, the token server's URL.

  listener   asks for
  TLS        nothing; its certificate is right
  MTLS       a certificate of its authority
  EXPIRED    nothing; its certificate has expired
  ELSEWHERE  nothing; its certificate is for another host
  SASL       a login (SASL_PLAINTEXT): PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI
  SASL_TLS   the same over TLS
  REAUTH     the same as SASL, and again every few seconds

The user is "worker" everywhere, and may everything.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import certificates, kerberos, listeners

ROOT = Path(__file__).resolve().parents[3]
START_DEADLINE = 60.0


class Access:
    """What belongs to the cluster in `folder`."""
    PORTS = len(listeners.LISTENERS) + 3  # and those of the token server, without and with TLS, and of the KDC

    def __init__(self, folder):
        self.folder = folder / "access"
        self.file = folder / "access.json"
        self.pid_file = self.folder / "pid"

    @property
    def state(self):
        return json.loads(self.file.read_text())

    def create(self, ports, password):
        self.folder.mkdir(parents=True, exist_ok=True)
        token_port, token_tls_port, kdc_port, *ports = ports
        state = {"listeners": {name: f"127.0.0.1:{port}" for name, port in zip(listeners.LISTENERS, ports)},
                 "certificates": certificates.make(self.folder),
                 "token_port": token_port, "token_url": f"http://127.0.0.1:{token_port}/token",
                 "token_tls_port": token_tls_port, "token_tls_url": f"https://127.0.0.1:{token_tls_port}/token",
                 "kerberos": kerberos.make(self.folder, kdc_port, password)}
        self.file.write_text(json.dumps(state, indent=1))

    def broker_settings(self, settings):
        return listeners.broker_settings(self.state, settings)

    def java_options(self):
        state = self.state
        keys = listeners.keys_url(state)
        return [f"-Djava.security.krb5.conf={state['kerberos']['krb5_conf']}",
                f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={keys}"]

    def start(self):
        """The token server and the KDC, which a broker asks at its start."""
        if self.pid():
            return
        with open(self.folder / "servers.log", "ab") as log:
            process = subprocess.Popen([sys.executable, "-B", "-m", f"{__name__}.servers", str(self.file)], cwd=ROOT,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True)
        if not process.stdout.readline():
            process.wait(START_DEADLINE)
            raise RuntimeError(f"the token server and the KDC did not start; see {self.folder}/servers.log")
        self.pid_file.write_text(str(process.pid))

    def pid(self):
        """The process id of the running servers, or None."""
        try:
            pid = int(self.pid_file.read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if os.fsencode(self.file) in command else None

    def stop(self):
        pid = self.pid()
        if not pid:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        while self.pid():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            time.sleep(0.05)
        self.pid_file.unlink(missing_ok=True)
