"""The ways to log in at a Kafka that was started with --access: settings of `kafka`, made of the blocks of docs/access.md."""
import json
import re
import subprocess

from process import LANEWAY, ROOT, inherited_environment

PAGE = ROOT / "docs" / "access.md"
PASSWORD = "worker-password"
SECRET = "worker-secret"


def blocks():
    """{heading: {key: value}} of the page's blocks."""
    found = {}
    for heading, block in re.findall(r"^## ([^\n]+)\n\n```yaml\nkafka:\n(.*?)```", PAGE.read_text(), re.M | re.S):
        found[heading] = dict(line.strip().split(": ", 1) for line in block.splitlines())
    return found


class Logins:
    def __init__(self, run):
        self.folder = run.folder
        self.open = run.admin_bootstrap  # needs no login
        access = json.loads((run.kafka_dir / "access.json").read_text())
        self.listeners, self.files = access["listeners"], access["certificates"]
        self.token_url, self.token_tls_url, self.kerberos = access["token_url"], access["token_tls_url"], access["kerberos"]

    def secret_file(self, name, content):
        file = self.folder / name
        file.write_text(content + "\n")
        file.chmod(0o600)
        return str(file)

    def here(self):
        """The values that replace the page's hosts, files and users."""
        return {"kafka-1.example:9093": self.listeners["TLS"], "kafka-1.example:9094": self.listeners["MTLS"],
                "kafka-1.example:9095": self.listeners["SASL_TLS"],
                "/etc/laneway/authority.pem": self.files["authority"], "/etc/laneway/worker.pem": self.files["worker"],
                "/etc/laneway/worker_key.pem": self.files["worker_key"],
                "/etc/laneway/worker.keytab": self.kerberos["keytab"], "worker@EXAMPLE.COM": self.kerberos["principal"],
                "https://tokens.example/token": self.token_tls_url,
                "/etc/laneway/password": self.secret_file("password", PASSWORD),
                "/etc/laneway/client-secret": self.secret_file("client-secret", SECRET)}

    def pages(self):
        """{heading: settings of `kafka`}"""
        here = self.here()
        return {heading: {key: here.get(value, value) for key, value in block.items()} for heading, block in blocks().items()}

    def tls(self, listener, **changes):
        return {"security.protocol": "ssl", "ssl.ca.location": self.files["authority"],
                "bootstrap.servers": self.listeners[listener], **changes}

    def certificate(self, name):
        return {"ssl.certificate.location": self.files[name], "ssl.key.location": self.files[name + "_key"]}

    def sasl(self, mechanism, at=None, user="worker", password=PASSWORD):
        return {"security.protocol": "sasl_plaintext", "bootstrap.servers": at or self.listeners["SASL"],
                "sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password}

    def again_and_again(self, user, password):
        """At a listener where a login holds for a few seconds."""
        return self.sasl("SCRAM-SHA-512", at=self.listeners["REAUTH"], user=user, password=password)

    def token(self, client="worker", secret=SECRET, url=None, **changes):
        return {"security.protocol": "sasl_plaintext", "bootstrap.servers": self.listeners["SASL"],
                "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.id": client,
                "sasl.oauthbearer.client.secret": secret, "sasl.oauthbearer.token.endpoint.url": url or self.token_url, **changes}

    def ticket(self, **changes):
        return {"security.protocol": "sasl_plaintext", "bootstrap.servers": self.listeners["SASL"], "sasl.mechanism": "GSSAPI",
                "sasl.kerberos.service.name": "kafka", "sasl.kerberos.principal": self.kerberos["principal"],
                "sasl.kerberos.keytab": self.kerberos["keytab"], **changes}

    def environment(self, name):
        """The test's own realm, and a cache of tickets for this process alone."""
        return {"KRB5_CONFIG": self.kerberos["krb5_conf"], "KRB5CCNAME": f"FILE:{self.folder}/{name}.tickets"}


def old_client():
    """Whether the linked client supports neither SCRAM nor OIDC."""
    said = subprocess.run([LANEWAY, "version"], text=True, capture_output=True, check=True, env=inherited_environment()).stdout
    release = re.search(r"librdkafka (\d+)\.(\d+)\.(\d+)", said)
    return tuple(map(int, release.groups())) < (2, 6, 1)


def refusal_by_old_client(kafka):
    """The message of a laneway with such a client about these settings; None if the client supports them."""
    if kafka.get("sasl.mechanism", "").startswith("SCRAM") and kafka.get("security.protocol", "").startswith("sasl"):
        return "cannot log in by SCRAM"
    return "built without OIDC" if kafka.get("sasl.mechanism") == "OAUTHBEARER" else None
