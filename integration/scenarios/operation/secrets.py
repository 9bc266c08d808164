"""A canary in every place where a secret can be, and a search of every output for them.

Each place has a canary of its own, so a failure names the place. Outputs: the logs of `run` in both formats with the client
library's debug lines, its words to the service manager, status, metrics, readyz, reloads and refusals over HTTP, what the other
verbs print, errors of bad configurations, spans, journal and dead letters. Payload (key, value, header) is a secret too, but for the
dead letter, which is the record.
"""
import base64
import json
import re
import socket
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

import harness
from harness import KAFKA_TOOL, LANEWAY, PATIENCE, PLUGINS, expect, expect_equal, inherited_environment, wait_until
from web_service import WebService, record_of

MARK = "c4n4ry-in-a-coal-mine"
PASSWORD = "admin-password"  # of the user "admin" at a secured Kafka
RECORDS = 20
SASL = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": "admin"}
OAUTH = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": True}


def canary(place):
    return f"{MARK}-{place}"


def in_base64(text):
    """What of it is in any text in base64 that holds it: it may begin at any of three places."""
    return {base64.b64encode((" " * before + text).encode()).decode()[4:-4] for before in range(3)}


SECRETS = {MARK, PASSWORD} | in_base64(MARK) | in_base64(PASSWORD)


class Receiver(WebService):
    """Refuses some, fails some, is out for one."""

    def __init__(self):
        self.authorized = 0
        super().__init__()

    def judge(self, headers, _):
        self.authorized += headers.get("Authorization", "").startswith("Basic ")
        return {0: 400, 1: 500, 2: 503}.get(record_of(headers)[1] % 10, 204)


class Collector(WebService):
    """Takes every span."""

    def __init__(self):
        self.authorized, self.spans = 0, ""
        super().__init__()

    def judge(self, headers, body):
        self.authorized += headers.get("Authorization", "").startswith("Basic ")
        self.spans += body.decode()
        return 200


class Manager:
    """The service manager's end of NOTIFY_SOCKET."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name + "/notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.said = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            self.said.append(self.socket.recv(65536).decode())


class Outputs:
    """Everything that was said, by name."""

    def __init__(self):
        self.found = {}

    def add(self, name, text):
        self.found[name] = self.found.get(name, "") + text

    def laneway(self, *arguments, **variables):
        done = subprocess.run([LANEWAY, *map(str, arguments)], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, check=False, env={**inherited_environment(), **variables})
        self.add("laneway " + " ".join(map(str, arguments)), done.stdout + done.stderr)
        return done

    def http(self, url, token=None, method="GET"):
        headers = {"Authorization": "Bearer " + token, "X-Laneway": "1"} if token else {}
        request = urllib.request.Request(url, headers=headers, method=method, data=b"" if method == "POST" else None)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                status, body = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, body = error.code, str(error.headers) + error.read().decode()
        self.add(f"{method} {url}", body)
        return status

    def judge(self):
        sung = {(name, text[max(0, at - 60):at + 60]) for name, text in self.found.items()
                for wanted in SECRETS for at in [text.find(wanted)] if at >= 0}
        expect(not sung, "a secret is told:\n" + "\n".join(f"{name}: …{text!r}…" for name, text in sung))


def secret_file(run, name, mode=0o600, content=None):
    file = run.folder / f"{name}.secret"
    file.write_text((content or canary(name)) + "\n")
    file.chmod(mode)
    return file


def write_records(run):
    """Sends records whose payload must not be shown."""
    def payload(kind):
        return canary(kind).encode().hex()
    lines = [json.dumps({"partition": 0, "key": payload("key"), "value": payload("value"),
                         "headers": [["tenant", payload("header")]]}) for _ in range(RECORDS)]
    done = subprocess.run([KAFKA_TOOL, "--bootstrap", run.admin_bootstrap, "write", run.topic], input="\n".join(lines) + "\n",
                          text=True, capture_output=True, timeout=PATIENCE, check=False)
    expect_equal(0, done.returncode, f"exit code of kafka_tool write: {done.stderr}")


def webhook(run, port, login, collector):
    url = f"http://worker:{canary('url-password')}@127.0.0.1:{port}/orders?token={canary('url-query')}"
    return {"handler": {"simulate": None, "http": {"url": url, "headers": ["tenant"]}},
            "kafka": {**SASL, **login, "debug": "all"},
            "admin": {"token_file": str(secret_file(run, "token"))},
            "retry": {"attempts": 2, "backoff": "10ms"}, "dead_letter": {"topic": "{topic}-dlt"},
            "breaker": {"failures": 2, "probe": "100ms"}, "trace": {"otlp": collected_at(collector), "sample": 1}}


def collected_at(port):
    return f"http://worker:{canary('trace-password')}@127.0.0.1:{port}/v1/traces?token={canary('trace-query')}"


VARIABLES = {"ANY": canary("variable"), "PASSWORD": PASSWORD}


def a_webhook_that_fails(run, outputs, log_format, login):
    """Runs until the record for which the service is out holds the lane; an operator looks, pauses, resumes, skips, reloads.

    A collector takes the spans of one; of the other nobody does, and the log complains."""
    write_records(run)
    receiver, manager, collector = Receiver(), Manager(), Collector()
    collects = log_format == "json"
    service = run.service(f"webhook-{log_format}", environment={**VARIABLES, "NOTIFY_SOCKET": manager.path},
                          log={"level": "debug", "format": log_format}, **webhook(run, receiver.server_port, login, collector.server_port if collects else 1))
    file = run.folder / f"webhook-{log_format}.yaml"
    url = "http://" + wait_until("it listens", lambda: address_in(service.log))
    for verb in (("--verbose",), ("--connect",)):
        done = outputs.laneway("check", "-c", file, *verb, **VARIABLES)
        expect_equal(0, done.returncode, f"exit code of check: {done.stderr}")
    wait_until("the breaker opens", lambda: "breaker open" in service.log)
    for path in ("/metrics", "/livez", "/readyz", "/readyz?format=json", "/status", "/", "/nothing"):
        outputs.http(url + path)
    lane = f"{url}/lanes/{run.topic}/0"
    expect_equal(401, outputs.http(lane + "/pause", token=canary("wrong-token"), method="POST"), "a wrong token's answer")
    expect_equal(200, outputs.http(lane + "/pause", token=canary("token"), method="POST"), "the token's answer")
    an_operator(run, outputs, url)
    reloads(run, outputs, url, file)
    if collects:
        wait_until("spans are collected", lambda: collector.spans)
    service.stop()
    expect(receiver.authorized > 0, "the password never reached the web service, so this shows nothing")
    expect_equal((collects, not collects), (collector.authorized > 0, "spans not accepted" in service.log),
                 "whether the collector was given its password, and whether the log complains")
    outputs.add("spans", collector.spans)
    expect("sasl.password" in service.log, "the client library's debug lines are missing")
    outputs.add(f"log as {log_format}", service.log)
    outputs.add(f"journal beside the log as {log_format}", service.journal.read_text())
    outputs.add(f"words to the service manager, log as {log_format}", "".join(manager.said))
    expect(manager.said, "nothing was said to the service manager")


def an_operator(run, outputs, url):
    def done(*verb, codes=(0,)):
        token = () if verb[0] == "status" else ("--token-file", run.folder / "token.secret")
        ended = outputs.laneway(*verb, "--admin", url.removeprefix("http://"), *token)
        expect(ended.returncode in codes, f"exit code {ended.returncode} of {verb}: {ended.stderr}")
        return ended.stdout
    done("status")
    for verb in ("resume", "pause", "resume"):
        done(verb, f"{run.topic}:0")
    oldest = wait_until("status names the oldest record", lambda: next(
        (str(lane["oldest"]["offset"]) for lane in json.loads(done("status", "--json"))["lanes"]
         if "offset" in (lane["oldest"] or {})), None))
    done("skip", f"{run.topic}:0:{oldest}", "--reason", "cancelled", codes=(0, 69))  # it may be given up meanwhile
    done("skip", f"{run.topic}:0:1000000", "--reason", "a mistake", codes=(69,))
    outputs.laneway("plan", "--from", url, "--window", "1s")  # there may be too little to measure, which is said


def reloads(run, outputs, url, file):
    """Of what may not change, of a mistake, of nothing, and of another token."""
    settings = json.loads(file.read_text())
    by_verb = ("--admin", url.removeprefix("http://"), "--token-file", run.folder / "token.secret")
    others = {"kafka": {"sasl.password": canary("reload-password"), "sasl.password_file": None},
              "handler": {"http": {"url": f"http://worker:{canary('reload-url')}@127.0.0.1:1/orders"}},
              "trace": {"otlp": collected_at(2)}}
    mistake = {"kafka": {"sasl.password": [canary("reload-list")], "sasl.password_file": None}}
    for changes, code, status in ((others, 78, 422), (mistake, 78, 422), ({}, 0, 200)):
        file.write_text(json.dumps(harness.merged(settings, changes)))
        for dry_run in ((), ("--dry-run",)):
            done = outputs.laneway("reload", *by_verb, *dry_run)
            expect_equal(code, done.returncode, f"exit code of reload: {done.stdout}{done.stderr}")
            path = "/reload?dry_run=1" if dry_run else "/reload"
            expect_equal(status, outputs.http(url + path, token=canary("token"), method="POST"), "status of reload")
    secret_file(run, "token", content=canary("token-new"))
    expect_equal(200, outputs.http(url + "/reload", token=canary("token"), method="POST"), "status of a reload with another token")
    expect_equal(200, outputs.http(url + "/reload", token=canary("token-new"), method="POST"), "status with the other token")


def address_in(log):
    """Where it serves, from a line in either format."""
    found = re.search(r'admin listening.*?(127\.0\.0\.1:\d+)', log)
    return found and found[1]


def dead_letters(run, outputs):
    """The headers that laneway adds to a dead letter; and the verbs, of which only show shows the record, as it must."""
    letters = [record for record in map(json.loads, run.tool("read", run.topic + "-dlt")) if record.get("headers")]
    expect(letters, "there is no dead letter")
    for letter in letters:
        for name, value in letter["headers"]:
            if name != "tenant":
                outputs.add("header of a dead letter", name + ": " + bytes.fromhex(value or "").decode(errors="replace") + "\n")
    configuration = ("-c", run.folder / "webhook-text.yaml")
    for verb in ("list", "redrive"):
        done = outputs.laneway("dlq", verb, *configuration, **VARIABLES)
        expect_equal(0, done.returncode, f"exit code of dlq {verb}: {done.stderr}")
    shown = Outputs()
    done = shown.laneway("dlq", "show", "0:0", *configuration, **VARIABLES)
    expect_equal(0, done.returncode, f"exit code of dlq show: {done.stderr}")
    expect(all(canary(part) in done.stdout for part in ("key", "value", "header")), f"dlq show: {done.stdout}")
    for name, text in shown.found.items():
        outputs.add(name, re.sub(rf"{MARK}-(key|value|header)\b", "", text))


def brokers_that_refuse(run, outputs):
    """A wrong password, a token that is refused, and files that are no private key and no key store."""
    ssl = {"security.protocol": "ssl", "debug": "all"}
    store = str(secret_file(run, "keystore"))
    for name, kafka in {
            "login": {**SASL, "sasl.password": canary("sasl-wrong"), "debug": "all"},
            "oauth": {**OAUTH, "sasl.oauthbearer.config": "principal=" + canary("oauth"), "debug": "all"},
            "key": {**ssl, "ssl.key.pem": canary("key-pem"), "ssl.key.password": canary("key-password")},
            "store": {**ssl, "ssl.keystore.location": store, "ssl.keystore.password": canary("store-password")}}.items():
        service = run.service(name, kafka=kafka, log={"level": "debug"}, start_deadline="300ms", allow_insecure=True)
        expect(service.wait(PATIENCE) in (69, 70, 78), f"exit code {service.process.returncode} of {name}")
        expect("starting" in service.log, f"{name} was refused as a configuration: {service.log}")
        outputs.add("log of a refused " + name, service.log)
        expect_not_zero(outputs.laneway("check", "--connect", "-c", run.folder / f"{name}.yaml"), name)
        run.services.remove(service)


def a_plugin_with_a_secret(run, outputs):
    write_records(run)  # what was skipped before may have been the last one
    plugin = {"library": str(PLUGINS / "nothing.so"), "config": {"password": canary("plugin"), "more": [canary("plugin-list")]}}
    service = run.service("plugin", kafka={**SASL, "sasl.password": PASSWORD},
                          handler={"simulate": None, "plugin": plugin}, log={"level": "debug"})
    outputs.add("check of a plugin", outputs.laneway("check", "--verbose", "-c", run.folder / "plugin.yaml").stdout)
    wait_until("it runs", lambda: service.processed() > 0)
    outputs.http(service.url() + "/status")
    service.stop()
    outputs.add("log of a plugin", service.log)


def expect_not_zero(done, what):
    expect(done.returncode != 0, f"{what} was accepted: {done.stdout}")


# Each is refused, with a message that does not contain the value.
BAD = {
    "misspelt": 'kafka: { sasl.pasword: CANARY }',
    "list": 'kafka: { sasl.password: [CANARY] }',
    "map": 'kafka: { ssl.key.password: { a: CANARY } }',
    "empty-pem": 'kafka: { sasl.password: "CANARY\\0" }',
    "no-such-file": 'kafka: { sasl.password_file: /no/such, sasl.password: CANARY }',
    "unterminated": 'kafka: { sasl.password: "CANARY }',
    "two-colons": 'kafka:\n  sasl.password: CANARY: x',
    "twice": 'kafka: { sasl.password: CANARY, sasl.password: CANARY }',
    "tab": 'kafka:\n\tsasl.password: CANARY',
    "url-scheme": 'handler: { http: { url: "htp://worker:CANARY@host/?token=CANARY" } }',
    "url-port": 'handler: { http: { url: "http://worker:CANARY@host:port/" } }',
    "url-space": 'handler: { http: { url: "http://worker:CAN ARY CANARY@host/" } }',
    "trace-url": 'trace: { otlp: "htp://worker:CANARY@host/?token=CANARY" }',
    "token": 'admin: { token: CANARY }',
    "elsewhere": 'lanes: { workers: "${ANY}" }',
    "plugin-twice": 'handler: { plugin: { library: /no/such.so, config: { password: CANARY, password: CANARY } } }',
    "plugin-place": 'handler: { plugin: { library: /no/such.so, confg: { password: CANARY } } }',
    "plugin-list": 'handler: { plugin: { library: /no/such.so, config: [CANARY] } }',
    "produce": 'handler: { produce: { topic: out, kafka: { sasl.password: [CANARY] } } }',
    "produce-misspelt": 'handler: { produce: { topic: out, kafka: { sasl.pasword: CANARY } } }',
}
WHOLE = {"kafka": 'kafka: { bootstrap.servers: "127.0.0.1:9", group.id: g }', "topics": "topics: [orders]",
         "handler": "handler: { log: {} }"}


def bad_configurations(run, outputs):
    for name, text in BAD.items():
        file = run.folder / f"bad-{name}.yaml"
        rest = [line for key, line in WHOLE.items() if not text.startswith(key + ":")]
        file.write_text("\n".join([*rest, text.replace("CANARY", canary("bad-" + name)), ""]))
        done = outputs.laneway("check", "-c", file, **VARIABLES)
        expect(done.returncode == 78 and str(file) in done.stderr, f"{name}: {done.returncode}, {done.stdout}{done.stderr}")
    file = run.folder / "webhook-text.yaml"
    for wrong in ({"LANEWAY_HANDLER__HTTP__URL": f"ftp://worker:{canary('variable')}@host/"}, {"LANEWAY_ADMIN__TOKEN": canary("variable")},
                  {"LANEWAY_KAFKA__SASL_PASSWORD": canary("variable") + "\n", "LANEWAY_KAFKA__SASL_PASSWORD_FILE": "/no/such"}):
        expect_not_zero(outputs.laneway("check", "-c", file, **{**VARIABLES, **wrong}), wrong)


def files_that_everyone_may_read(run, outputs):
    for key, text in {"sasl": "kafka: { bootstrap.servers: '127.0.0.1:9', group.id: g, sasl.password_file: FILE }",
                      "token": "admin: { token_file: FILE }",
                      "produce": "handler: { produce: { topic: out, kafka: { sasl.password_file: FILE } } }"}.items():
        for mode in (0o644, 0o602):
            secret = secret_file(run, f"open-{key}", mode)
            file = run.folder / f"open-{key}.yaml"
            rest = [line for name, line in WHOLE.items() if not text.startswith(name + ":")]
            file.write_text("\n".join([*rest, text.replace("FILE", str(secret)), ""]))
            for verb in ("check", "run"):
                done = outputs.laneway(verb, "-c", file)
                expect(done.returncode == 78 and "everyone on this machine may read" in done.stderr, f"{key}, {mode:o}: {done.stderr}")


def scenario(run):
    outputs = Outputs()
    run.create(1)
    password = secret_file(run, "password", content=PASSWORD)
    a_webhook_that_fails(run, outputs, "text", {"sasl.password_file": str(password)})
    a_webhook_that_fails(run, outputs, "json", {"sasl.password": "${PASSWORD}"})
    dead_letters(run, outputs)
    brokers_that_refuse(run, outputs)
    a_plugin_with_a_secret(run, outputs)
    bad_configurations(run, outputs)
    files_that_everyone_may_read(run, outputs)
    outputs.judge()
    print(f"{len(outputs.found)} outputs, {sum(map(len, outputs.found.values()))} characters")


if __name__ == "__main__":
    harness.main("secrets", scenario, secured=True)
