"""Whatever is wrong with TLS or a login: `check --connect` and the start end with 69, and name the cause and the remedy."""
import socket

import harness
from access_logins import Logins, old_client, refusal_by_old_client
from bad_input import ends, ends_once_brokers_answered
from harness import ROOT, expect, expect_equal

PAGE = (ROOT / "docs" / "access.md").read_text()


def rows(logins, closed):
    """(name, settings, words): the first words are those of the page's table."""
    password = "refuses the user or the password"
    mutual, expired, unknown = "MTLS", logins.certificate("worker_expired"), logins.certificate("worker_unknown")
    wrong_keytab, another = logins.kerberos["wrong_keytab"], logins.files["another_authority"]
    no_krb5_user = {"sasl.kerberos.min.time.before.relogin": 0}
    yield "wrong-password-plain", logins.sasl("PLAIN", password="wrong"), [password, "kafka.sasl.password"]
    yield "wrong-password-256", logins.sasl("SCRAM-SHA-256", password="wrong"), [password, "a password for SCRAM-SHA-256"]
    yield "wrong-password-512", logins.sasl("SCRAM-SHA-512", password="wrong"), [password, "a password for SCRAM-SHA-512"]
    yield "unknown-user-plain", logins.sasl("PLAIN", user="nobody"), [password, "login of user nobody"]
    yield "unknown-user-512", logins.sasl("SCRAM-SHA-512", user="nobody"), [password, "login of user nobody"]
    yield "wrong-authority", logins.tls("TLS", **{"ssl.ca.location": another}), ["its certificate was issued by", "kafka.ssl.ca.location"]
    yield "wrong-host", logins.tls("ELSEWHERE"), ["its certificate is for other names: ", "kafka.elsewhere.example"]
    yield "expired", logins.tls("EXPIRED"), ["its certificate expired on", "renew the certificate"]
    yield "no-client-certificate", logins.tls(mutual), ["requires a client certificate", "kafka.ssl.certificate.location"]
    yield "client-expired", logins.tls(mutual, **expired), ["does not accept the client's certificate", "CN=worker", "which expired on"]
    # A newer client does not even show a certificate of an authority that the broker does not ask for.
    yield "client-unknown", logins.tls(mutual, **unknown), ["client", "issued by CN=another-authority"]
    yield "wrong-secret", logins.token(secret="wrong"), ["the token server refuses the client", "sasl.oauthbearer.client.secret"]
    yield "no-token-server", logins.token(url=f"http://{closed}/token"), ["the token server cannot be reached", closed]
    yield "wrong-token-url", logins.token(url=logins.token_url + "s"), ["issues no token", "token.endpoint.url"]
    yield "token-server-without-tls", logins.token(url=logins.token_url.replace("http:", "https:")), ["does not speak TLS as expected"]
    over_tls = {"url": logins.token_tls_url, "https.ca.location": another}
    yield "token-server-wrong-authority", logins.token(**over_tls), ["the certificate of the token server is refused", "kafka.https.ca.location"]
    yield "wrong-scope", logins.token(**{"sasl.oauthbearer.scope": "wrong"}), ["the token server refuses the scope", "kafka.sasl.oauthbearer.scope"]
    yield "forged-token", logins.token("forger"), ["refuses the token", "signature"]
    yield "token-for-others", logins.token("astray"), ["refuses the token", "audience"]
    yield "wrong-keytab", logins.ticket(**{"sasl.kerberos.keytab": wrong_keytab}), ["kinit got no ticket", "kafka.sasl.kerberos.keytab"]
    yield "no-ticket", logins.ticket(**no_krb5_user), ["there is no Kerberos ticket", "kafka.sasl.kerberos.keytab"]
    yield ("wrong-service", logins.ticket(**{"sasl.kerberos.service.name": "kafkas"}),
           ["Kerberos knows no principal", "kafkas/127.0.0.1", "kafka.sasl.kerberos.service.name"])
    plain = {"bootstrap.servers": logins.open}
    yield "tls-at-plaintext", logins.tls("TLS", **plain), ["closed the connection without an answer", "security.protocol to plaintext"]
    yield "plaintext-at-tls", {"bootstrap.servers": logins.listeners["TLS"]}, ["closed the connection without an answer", "security.protocol to ssl"]
    yield ("login-over-tls-at-plaintext", {**logins.sasl("PLAIN"), "security.protocol": "sasl_ssl"},
           ["closed the connection without an answer", "sasl_plaintext"])
    yield ("login-without-tls-at-tls", logins.sasl("PLAIN", at=logins.listeners["SASL_TLS"]),
           ["closed the connection without an answer", "sasl_ssl"])
    yield "login-at-none", {**logins.sasl("PLAIN"), **plain}, ["expects no login on this port", "security.protocol to plaintext"]
    yield "scram-at-none", {**logins.sasl("SCRAM-SHA-512"), **plain}, ["expects no login on this port", "security.protocol to plaintext"]
    yield "none-at-login", {"bootstrap.servers": logins.listeners["SASL"]}, ["seems to expect a login on this port", "sasl_plaintext"]
    yield "none-at-login-over-tls", logins.tls("SASL_TLS"), ["seems to expect a login on this port", "sasl_ssl"]


def another_mechanism(run, logins):
    """The listener of `--secured` has PLAIN alone."""
    return ("another-mechanism", {**logins.sasl("GSSAPI"), **logins.ticket(), "bootstrap.servers": run.only_plain},
            ["on this port, only", "does not offer GSSAPI on this port, only PLAIN;", "kafka.sasl.mechanism"])


def story(logins, name, kafka, words):
    refused = refusal_by_old_client(kafka) if old_client() else None
    code, words = (78, [refused]) if refused else (69, words)
    expect(refused or name == "client-unknown" or words[0].strip(": ") in PAGE, f"docs/access.md does not know {words[0]!r}")

    def case(run):
        with run.part(f"refused-{name}") as part:
            def start(deadline):
                return part.service(f"{name}-{deadline}", kafka=kafka, environment=logins.environment(name), start_deadline=deadline)
            service = ends_once_brokers_answered(part, start, code, *words)
            expect_equal([], service.events("lane assigned"), f"lanes of {name}")
            check = part.command(f"{name}-check", "check", "--connect", "-c", str(service.file),
                                 environment=logins.environment(name + "-check"))
            if name == "client-expired":  # it looks into the file before it asks
                return ends(check, 78, f"{name}-", "kafka.ssl.certificate.location", "CN=worker", "which expired on")
            ends(check, code, *words)
    case.__name__ = name
    return case


def scenario(run):
    run.create(1)
    logins = Logins(run)
    with socket.socket() as closed:  # bound and not listening
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        harness.at_once(run, [story(logins, *row) for row in [*rows(logins, address), another_mechanism(run, logins)]])


if __name__ == "__main__":
    harness.main("access-refused", scenario, access=True)
