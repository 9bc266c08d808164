"""The token server and the KDC of a cluster. usage: python3 -m tools.kafka.access.servers ACCESS_JSON

Both end with this process, and when the file has gone.

POST /token with a client's name and secret (Basic) gives a token, signed with RS256, for this client; GET /keys gives the key
that the brokers check it by. Clients: "worker" with "worker-secret"; with the same secret "forger", whose tokens are signed with
another key, "astray", whose tokens are for another audience, and "brief", whose tokens are the worker's and hold for seconds.
There is one scope, "kafka". The same is at another port over TLS, with the certificate of the brokers.
"""
import base64
import ctypes
import http.server
import json
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from . import kerberos

SECRET = "worker-secret"
SCOPE = "kafka"
LIFETIME, BRIEF_LIFETIME = 60, 10  # s
PR_SET_PDEATHSIG = 1


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value):
    return base64url(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def make_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class TokenServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, keys):
        super().__init__(("127.0.0.1", port), Handler)
        self.key, self.another_key = keys

    def keys(self):
        public = self.key.public_key().public_numbers()
        return {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": number(public.n), "e": number(public.e)}]}

    def token(self, client):
        """And for how long it holds."""
        now, lifetime = int(time.time()), BRIEF_LIFETIME if client == "brief" else LIFETIME
        claims = {"iss": "laneway", "sub": "worker" if client == "brief" else client, "iat": now, "exp": now + lifetime,
                  "aud": "elsewhere" if client == "astray" else "kafka"}
        parts = ({"alg": "RS256", "typ": "JWT", "kid": "1"}, claims)
        signed = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        key = self.another_key if client == "forger" else self.key
        return signed + "." + base64url(key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())), lifetime


def over_tls(server, file):
    """`file`: its certificate with the key. A connection's handshake is its own thread's affair."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(200, self.server.keys())

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        if self.path != "/token":
            return self.answer(404, {"error": "there is nothing here"})
        credentials = self.headers.get("Authorization", "").removeprefix("Basic ")
        client, _, secret = base64.b64decode(credentials).decode().partition(":")
        if secret != SECRET:
            return self.answer(401, {"error": "invalid_client", "error_description": "the secret is wrong"})
        if form.get("scope", [SCOPE]) != [SCOPE]:
            return self.answer(400, {"error": "invalid_scope", "error_description": "there is no such scope"})
        token, lifetime = self.server.token(client)
        return self.answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": lifetime})


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main():
    file = Path(sys.argv[1])
    state = json.loads(file.read_text())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    kdc = subprocess.Popen(kerberos.kdc_command(file.parent / "access" / "kdc.pid"), stdin=subprocess.DEVNULL,
                           stdout=sys.stderr, env=kerberos.environment(state["kerberos"]), preexec_fn=end_with_parent)
    try:
        keys = make_key(), make_key()
        for server in (TokenServer(state["token_port"], keys),
                       over_tls(TokenServer(state["token_tls_port"], keys), state["certificates"]["broker_both"])):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        print("ready", flush=True)
        while file.exists() and kdc.poll() is None:
            time.sleep(1)
    finally:
        kdc.terminate()
        kdc.wait()


if __name__ == "__main__":
    main()
