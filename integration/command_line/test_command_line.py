"""The program as a person runs it: exit codes, and the output on each stream. Without a broker."""
import contextlib
import json
import os
import re
import resource
import shlex
import signal
import socket
import subprocess
import tempfile
import textwrap
import threading
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LANEWAY = os.environ.get("LANEWAY", str(ROOT / "build" / "app" / "laneway"))
# A hang shows as a failure, not as a test that never ends; no test passes or fails by being faster.
LONGEST = 60
BROKERLESS = {"kafka": {"bootstrap.servers": "127.0.0.1:9", "group.id": "g"}, "topics": ["orders"],
              "handler": {"log": {}}, "start_deadline": "1s", "admin": {"listen": "127.0.0.1:0"}}


def environment(**more):
    """Without settings of ours that the surroundings may have."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LANEWAY_")}
    return {**kept, **more}


def laneway(*arguments, prepare=None, **variables):
    return subprocess.run([LANEWAY, *map(str, arguments)], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=LONGEST, env=environment(**variables), check=False, preexec_fn=prepare)


@contextlib.contextmanager
def taken_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="laneway-command-line-")
        self.addCleanup(self.folder.cleanup)

    def file(self, **changes):
        path = Path(self.folder.name) / "laneway.yaml"
        path.write_text(json.dumps({**BROKERLESS, **changes}))  # JSON is YAML
        return path

    def ends(self, done, code, *words):
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        if code != 0:
            self.assertNotEqual("", done.stderr)


class Usage(CommandLine):
    def test_without_a_verb_the_usage_is_an_error(self):
        done = laneway()
        self.ends(done, 64, "verb", "run", "check", "version")
        self.assertEqual("", done.stdout)

    def test_a_missing_service_is_unavailable(self):
        for verb in (("status",), ("status", "--watch"), ("suspend", "orders"), ("pause", "orders"), ("skip", "orders:1:2", "--reason", "why"), ("reload",),
                     ("reload", "--dry-run"), ("send-on",), ("give-up", "pool", "--reason", "why")):
            with self.subTest(verb):
                self.ends(laneway(*verb, "--admin", "127.0.0.1:1"), 69, "127.0.0.1:1", "--admin HOST:PORT")

    def test_a_program_that_accepts_connections_and_does_not_answer_is_unavailable(self):
        with taken_port() as port:
            self.ends(laneway("status", "--admin", f"127.0.0.1:{port}"), 69, f"127.0.0.1:{port}", "does not answer")

    def test_invalid_lanes_and_records_are_usage_errors(self):
        for wrong in (("pause", "orders:x"), ("pause", "orders:1:2"), ("skip", "orders:1", "--reason", "why"),
                      ("skip", "orders:1:2"), ("resume",), ("status", "--admin", "nonsense")):
            with self.subTest(wrong):
                self.ends(laneway(*wrong), 64)

    def test_a_plan_is_worked_out_and_nonsense_is_refused(self):
        done = laneway("plan", "--rate", "20000", "--service-time", "15ms")
        self.assertEqual(0, done.returncode)
        self.assertIn("lanes: { workers: 27, queue: 313 }", done.stdout)
        for wrong, said in (({"rate": "0"}, "--rate"), ({"service-time": "15"}, "is not a duration"), ({"cpu": "1s"}, "--cpu"),
                            ({"partitions": "0"}, "--partitions"), ({"service-time": "2h"}, "from 1us to 1h")):
            with self.subTest(wrong):
                options = {"rate": "10", "service-time": "15ms", **wrong}
                self.ends(laneway("plan", *(part for name, value in options.items() for part in (f"--{name}", value))), 64, said)

    def test_a_plan_needs_numbers_or_a_service_that_answers(self):
        self.ends(laneway("plan", "--rate", "1"), 64, "--service-time", "--from")
        self.ends(laneway("plan", "--from", "127.0.0.1:1"), 69, "127.0.0.1:1")
        self.ends(laneway("plan", "--from", "https://127.0.0.1:1"), 64, "HOST:PORT")

    def test_a_token_that_everyone_may_read_is_refused(self):
        token = Path(self.folder.name) / "token"
        token.write_text("secret-of-the-operators\n")
        token.chmod(0o644)
        admin = {"listen": "127.0.0.1:1", "token_file": str(token)}
        for verb in ("check", "status"):
            done = laneway(verb, "-c", self.file(admin=admin))
            self.ends(done, 78, "admin.token_file", "chmod o-rw")
        token.chmod(0o600)
        done = laneway("check", "-c", self.file(admin=admin))
        self.ends(done, 0)
        self.assertNotIn("secret-of-the-operators", done.stdout + done.stderr)
        self.ends(laneway("status", "-c", self.file(admin=admin)), 69, "127.0.0.1:1")

    def test_an_unknown_verb_is_named(self):
        self.ends(laneway("rum"), 64, "'rum'", "run")

    def test_an_unknown_option_is_named(self):
        self.ends(laneway("run", "-c", "x", "--bogus"), 64, "--bogus", "laneway run --help")
        self.ends(laneway("run", "-c", ""), 64, "--config: the name is empty", "laneway run --help")
        self.ends(laneway("version", "more"), 64, "more")

    def test_the_configuration_must_be_named(self):
        self.ends(laneway("run"), 64, "--config")
        self.ends(laneway("check"), 64, "--config")

    def test_help_is_an_answer_not_an_error(self):
        for arguments in (["--help"], ["help"], ["run", "--help"], ["check", "-h"], ["help", "check"], ["help", "dlq", "list"], ["dlq", "help"]):
            done = laneway(*arguments)
            self.ends(done, 0)
            self.assertIn("Usage: laneway", done.stdout)
            self.assertEqual("", done.stderr)
        self.assertEqual(laneway("dlq", "list", "--help").stdout, laneway("help", "dlq", "list").stdout)
        self.assertEqual(laneway("dlq", "list", "--help").stdout, laneway("dlq", "help", "list").stdout)
        self.assertEqual(laneway("--help").stdout, laneway("help").stdout)

    def verbs(self, *before):
        section = laneway(*before, "--help").stdout.partition("Verbs:\n")[2].partition("\n\n")[0]
        return re.findall(r"^  ([\w-]+)", section, re.MULTILINE)

    def test_each_help_fits_a_terminal_and_has_examples_and_no_raw_types(self):
        verbs = self.verbs()
        self.assertEqual(["run", "check", "status", "suspend", "resume", "skip", "send-on", "give-up", "reload", "dlq", "plan", "demo", "help",
                          "version"], verbs)
        for verb in ([], *([verb] for verb in verbs), *(["dlq", verb] for verb in self.verbs("dlq"))):
            with self.subTest(verb):
                text = laneway(*verb, "--help").stdout
                self.assertLessEqual(max(map(len, text.splitlines())), 80)
                self.assertIn("\nExamples:\n  laneway ", text)
                self.assertNotRegex(text, r"\b(U?INT|FLOAT|REQUIRED|Excludes)\b| in \[| \.\.\.")

    def test_the_examples_of_the_help_parse(self):
        """They fail for want of a file or a service, not of a right command line."""
        for verb in ([], *([verb] for verb in self.verbs()), *(["dlq", verb] for verb in self.verbs("dlq"))):
            for example in re.findall(r"^  (laneway .*)$", laneway(*verb, "--help").stdout, re.MULTILINE):
                arguments = shlex.split(example)[1:]
                if arguments[0] in ("demo", "help", "version"):
                    continue
                with self.subTest(example):
                    elsewhere = [] if {"-c", "--from", "--rate", "--admin"} & set(arguments) else ["--admin", "127.0.0.1:1"]
                    arguments = [re.sub(r"^127.0.0.1:9644$", "127.0.0.1:1", word) for word in arguments]
                    self.assertIn(laneway(*arguments, *elsewhere).returncode, (0, 66, 69))

    def test_help_keys_prints_the_reference(self):
        self.assertEqual((ROOT / "config" / "full.yaml").read_text(), laneway("help", "keys").stdout)

    def test_pause_is_another_name_of_suspend(self):
        self.ends(laneway("pause", "orders", "--admin", "127.0.0.1:1"), 69, "laneway suspend: ")

    def test_version_names_every_library(self):
        done = laneway("version")
        self.ends(done, 0)
        for option in ("--version", "-v", "-V"):
            self.assertEqual(done.stdout, laneway(option).stdout)
        versions = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        loaded = subprocess.run(["ldd", LANEWAY], text=True, capture_output=True, check=True).stdout
        allocator = {"tcmalloc"} if "libtcmalloc" in loaded else set()  # a sanitized build has another
        self.assertEqual({"laneway", "librdkafka", "OpenSSL", "nlohmann-json", "yaml-cpp", "spdlog", "prometheus-cpp",
                          "libcurl", "cpp-httplib", "CLI11"} | allocator, set(versions))
        for library, version in versions.items():
            self.assertRegex(version, r"^\d+\.\d+", library)


class Configuration(CommandLine):
    """Both verbs that read one refuse it alike."""

    def refused(self, code, words, *arguments, **variables):
        for verb in ("run", "check"):
            with self.subTest(verb):
                done = laneway(verb, *arguments, **variables)
                self.ends(done, code, *words)
                self.assertEqual("", done.stdout)

    def test_a_misspelt_key_is_reported_with_its_place_and_the_nearest_key(self):
        path = Path(self.folder.name) / "misspelt.yaml"
        path.write_text((ROOT / "config" / "log.yaml").read_text() + "lanes:\n  wrokers: 4\n")
        line = len(path.read_text().splitlines())
        self.refused(78, [f"{path}:{line}:3: lanes.wrokers", "workers"], "-c", path)

    def test_all_errors_are_reported_at_once(self):
        path = self.file(lanes={"workers": "many", "queue": "long"})
        self.refused(78, ["lanes.workers", "lanes.queue"], "-c", path)

    def test_a_missing_file_is_no_input(self):
        self.refused(66, ["/nowhere/laneway.yaml"], "-c", "/nowhere/laneway.yaml")

    def test_a_directory_is_no_input(self):
        self.refused(66, [self.folder.name], "-c", self.folder.name)

    def test_a_bad_set_is_a_usage_error(self):
        self.refused(64, ["--set", "lanes.workers"], "-c", self.file(), "--set", "lanes.workers=many")
        self.refused(64, ["workers"], "-c", self.file(), "--set", "lanes.wrokers=4")
        self.refused(64, ["--set"], "-c", self.file(), "--set", "lanes.workers")

    def test_a_bad_variable_is_a_configuration_error(self):
        self.refused(78, ["LANEWAY_LANES__WORKERS"], "-c", self.file(), LANEWAY_LANES__WORKERS="many")


class Check(CommandLine):
    def test_every_example_is_valid(self):
        examples = sorted((ROOT / "config").glob("*.yaml"))
        self.assertTrue(examples)
        for example in examples:
            with self.subTest(example.name):
                # Users who copy the file have a library of their own; any file will do here.
                library = ["--set", f"handler.plugin.library={LANEWAY}"] if example.name == "plugin.yaml" else []
                self.ends(laneway("check", "-c", example, *library), 0)

    def test_the_verdict_comes_first_then_the_forecast(self):
        done = laneway("check", "-c", self.file(), "--set", "lanes.workers=3", "--set", "lanes.drain=7s")
        self.ends(done, 0)
        self.assertEqual(["configuration is valid", "", "with 16 partitions on 1 broker (assumed; --connect asks the brokers):"],
                         done.stdout.splitlines()[:3])
        for words in ("16 partitions", "48 workers", "drain: at most 7s", "12s after a SIGTERM"):
            self.assertIn(words, done.stdout)
        self.assertNotIn("  workers: 3", done.stdout.splitlines())

    def test_the_topics_that_a_pattern_leaves_out_are_named(self):
        """Two keys of the configuration leave topics out; without a pattern nothing is left out."""
        written = {"dead_letter": {"topic": "{topic}-dlt"}, "handler": {"produce": {"topic": "orders-done"}}}
        done = laneway("check", "-c", self.file(topics=["^orders.*"], exclude_topics=["orders-old"], **written))
        self.ends(done, 0)
        self.assertEqual(["configuration is valid", "the pattern in topics leaves out: exclude_topics, dead_letter.topic {topic}-dlt, "
                          "handler.produce.topic orders-done"], done.stdout.splitlines()[:2])
        done = laneway("check", "-c", self.file(**written))
        self.ends(done, 0)
        self.assertNotIn("leaves out", done.stdout)

    def test_verbose_prints_the_configuration_that_is_in_force(self):
        done = laneway("check", "--verbose", "-c", self.file(), "--set", "lanes.workers=3", "--set", "lanes.drain=7s",
                       LANEWAY_LANES__QUEUE="77")
        self.ends(done, 0)
        for line in ("configuration in force:", "  workers: 3", "  queue: 77", "  drain: 7s"):
            self.assertIn(line, done.stdout.splitlines())
        self.assertEqual("configuration is valid", done.stdout.splitlines()[0])

    def test_a_check_contacts_nothing(self):
        """The kernel completes a connection to a socket that listens, so a connection would be found in its queue afterwards."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            kafka = {"bootstrap.servers": address, "group.id": "g"}
            sasl = {**kafka, "security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc",
                    "sasl.oauthbearer.client.id": "c", "sasl.oauthbearer.client.secret": "s",
                    "sasl.oauthbearer.token.endpoint.url": f"http://{address}/token"}
            # The distribution's client was built without OIDC, so laneway refuses that configuration; it contacts nothing either way.
            oidc = 0 if "(bundled)" in laneway("version").stdout else 78
            for code, changes in ((0, {"handler": {"http": {"url": f"http://{address}/orders"}}, "trace": {"otlp": f"http://{address}/v1/traces"}}),
                                  (0, {"handler": {"produce": {"topic": "out"}}, "dead_letter": {"topic": "{topic}-dlt"}}),
                                  (0, {"handler": {"produce": {"topic": "out", "kafka": {"bootstrap.servers": address}}}}),
                                  (oidc, {"kafka": sasl, "allow_insecure": True})):
                with self.subTest(changes):
                    done = laneway("check", "--verbose", "-c", self.file(**{"kafka": kafka, **changes}))
                    self.ends(done, code, *(["kafka.sasl.oauthbearer.method"] if code else []))
                    with self.assertRaises(BlockingIOError):
                        listener.accept()

    def test_a_check_warns_of_limits_that_are_too_low_for_the_configuration(self):
        many = self.file(handler={"exec": {"command": ["/bin/cat"]}}, lanes={"workers": 64})
        done = laneway("check", "-c", many, prepare=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 1000)))
        self.ends(done, 0, "warning:", "open files", "is allowed 1000", "LimitNOFILE=")
        self.assertIn("open files: at most about", done.stdout)
        self.assertNotIn("open files", laneway("check", "-c", self.file()).stderr)

    def test_a_printed_configuration_is_a_valid_configuration(self):
        first = laneway("check", "--verbose", "-c", self.file()).stdout
        again = Path(self.folder.name) / "again.yaml"
        again.write_text(first.split("\nconfiguration in force:\n\n")[1])
        done = laneway("check", "--verbose", "-c", again)
        self.ends(done, 0)
        self.assertEqual(first, done.stdout)

    def test_secrets_are_not_shown(self):
        kafka = {**BROKERLESS["kafka"], "security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN",
                 "sasl.username": "u", "sasl.password": "${SECRET}"}
        done = laneway("check", "--verbose", "-c", self.file(kafka=kafka, allow_insecure=True), SECRET="hush-hush")
        self.ends(done, 0)
        self.assertIn("sasl.password: *****", done.stdout.replace('"', "").replace("'", ""))
        self.assertNotIn("hush-hush", done.stdout + done.stderr)

    def test_a_value_that_only_the_client_can_judge_is_refused_with_its_place(self):
        kafka = {**BROKERLESS["kafka"], "security.protocol": "ssl", "ssl.cipher.suites": "NONE-SUCH"}
        done = laneway("check", "-c", self.file(kafka=kafka))
        self.ends(done, 78, "ssl.cipher.suites")

    def test_connect_reports_brokers_that_do_not_answer(self):
        done = laneway("check", "-c", self.file(), "--connect")
        self.ends(done, 69, "127.0.0.1:9", "kafka.bootstrap.servers", "laneway check waited 1s")
        self.assertEqual("configuration is valid\nconnections fail: the brokers\n", done.stdout)

    def test_connect_waits_seconds_for_brokers_and_a_handler_that_accept_connections_and_are_silent(self):
        with taken_port() as port:
            done = laneway("check", "--connect", "-c", self.file(
                kafka={"bootstrap.servers": f"127.0.0.1:{port}", "group.id": "g"}, start_deadline="1h",
                handler={"http": {"url": f"https://127.0.0.1:{port}/orders"}}))
        self.ends(done, 69, f"127.0.0.1:{port}", "laneway check waited 8s", "handler.http.url")
        self.assertEqual("configuration is valid\nconnections fail: the brokers and the handler\n", done.stdout)

    def test_connect_reports_a_handler_that_does_not_answer(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
            handler = {"http": {"url": f"http://127.0.0.1:{port}/orders"}}
            done = laneway("check", "-c", self.file(handler=handler), "--connect")
        self.ends(done, 69, f"127.0.0.1:{port}", "handler.http.url")

    def test_connect_only_connects_to_the_handler(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            received = []

            def accept():
                connection, _ = server.accept()
                with connection:
                    while data := connection.recv(1024):
                        received.append(data)

            accepting = threading.Thread(target=accept, daemon=True)
            accepting.start()
            handler = {"http": {"url": f"http://127.0.0.1:{port}/orders"}}
            done = laneway("check", "-c", self.file(handler=handler), "--connect")
            accepting.join(LONGEST)
            self.assertFalse(accepting.is_alive(), "nobody connected")
        self.assertIn(f"handler: 127.0.0.1:{port} accepts connections", done.stdout)
        self.assertEqual([], received)


class DeadLetters(CommandLine):
    def test_brokers_that_do_not_answer_show_long_before_start_deadline(self):
        for verb in (("list",), ("show", "0:1"), ("redrive", "--yes")):
            with self.subTest(verb):
                done = laneway("dlq", *verb, "-c", self.file(start_deadline="1h", dead_letter={"topic": "orders-dlt"}))
                self.ends(done, 69, "the brokers at 127.0.0.1:9 do not answer: Connection refused (check kafka.bootstrap.servers")
                # The client repeats this error many times a second.
                self.assertLessEqual(done.stderr.count("1/1 brokers are down"), 5)


class Readme(CommandLine):
    """The examples of README.md work as shown."""
    TEXT = (ROOT / "README.md").read_text()

    def blocks(self, language):
        found = re.findall(rf"^ *```{language}\n(.*?)^ *```", self.TEXT, re.S | re.M)
        self.assertTrue(found, f"README.md has no {language}")
        return [textwrap.dedent(text) for text in found]

    def test_the_configuration_of_the_page_is_valid(self):
        """All of it together, and the first piece alone."""
        path = Path(self.folder.name) / "readme.yaml"
        for text in (self.blocks("yaml")[0], "".join(self.blocks("yaml"))):
            path.write_text(text)
            self.ends(laneway("check", "-c", path), 0)

    def test_the_receiver_of_the_page_is_a_program(self):
        for text in self.blocks("python"):
            compile(text, "receiver.py", "exec")

    def test_every_file_that_the_page_names_exists(self):
        named = re.findall(r"(?<![\w/])(?:config|integration|lib|scripts|tests)/[\w./-]*\w", self.TEXT)
        self.assertTrue(named)
        for name in named:
            self.assertTrue((ROOT / name).exists(), name)


class Running:
    """`laneway run`, and its log as it comes. `prepare` is called in the process before the program begins."""

    def __init__(self, *arguments, prepare=None):
        self.process = subprocess.Popen([LANEWAY, "run", *map(str, arguments)], text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(),
                                        preexec_fn=prepare)
        self.log = ""
        self.timer = threading.Timer(LONGEST, self.process.kill)
        self.timer.start()

    def until(self, pattern):
        for line in self.process.stderr:
            self.log += line
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"no line like {pattern!r} in the log:\n{self.log}")

    def end(self):
        """The exit code, when it has ended."""
        if not self.process.stderr.closed:
            self.log += self.process.stderr.read()
            self.process.stderr.close()
        self.process.wait()
        self.timer.cancel()
        return self.process.returncode


class Run(CommandLine):
    def running(self, *arguments, prepare=None, **changes):
        service = Running("-c", self.file(**changes), *arguments, prepare=prepare)
        self.addCleanup(service.end)
        self.addCleanup(service.process.kill)
        return service

    def test_brokers_that_do_not_answer_by_start_deadline_are_unavailable(self):
        self.ends(laneway("run", "-c", self.file()), 69, 'msg="cannot start"', "127.0.0.1:9")

    def test_a_taken_admin_port_is_unavailable(self):
        with taken_port() as port:
            done = laneway("run", "-c", self.file(admin={"listen": f"127.0.0.1:{port}"}, start_deadline="1h"))
        self.ends(done, 69, f"127.0.0.1:{port}", "admin.listen")

    def test_a_journal_that_cannot_be_written_is_no_input(self):
        done = laneway("run", "-c", self.file(journal={"file": "/nowhere/journal"}, start_deadline="1h"))
        self.ends(done, 66, "/nowhere/journal")

    def test_the_service_answers_over_http_while_waiting_for_a_broker(self):
        service = self.running(start_deadline="1h")
        address = service.until(r'msg="admin listening".* address=(\S+)')[1]
        for path, says in (("/livez", ""), ("/metrics", r'^laneway_build_info{version="[\d.]+",librdkafka="[\d.]+"} 1$')):
            with urllib.request.urlopen(f"http://{address}{path}", timeout=LONGEST) as answer:
                self.assertEqual(200, answer.status)
                self.assertRegex(answer.read().decode(), re.compile(says, re.MULTILINE))
        service.process.terminate()
        self.assertEqual(0, service.end(), service.log)

    def test_the_status_names_what_the_service_waits_for(self):
        service = self.running(start_deadline="1h")
        address = service.until(r'msg="admin listening".* address=(\S+)')[1]
        service.until("waiting for brokers and topics")
        done = laneway("status", "--admin", address)
        self.ends(done, 0)
        self.assertIn("NOT READY: waiting for brokers and topics", done.stdout)
        self.assertEqual([], json.loads(laneway("status", "--json", "--admin", address).stdout)["lanes"])
        self.ends(laneway("suspend", "orders[1]", "--admin", address), 66, "orders:1 is not a lane", "has no lanes now")
        service.process.terminate()
        self.assertEqual(0, service.end(), service.log)

    def test_a_stopped_process_is_recognised_and_later_ignores_the_commands(self):
        service = self.running(start_deadline="1h")
        address = service.until(r'msg="admin listening".* address=(\S+)')[1]
        service.process.send_signal(signal.SIGSTOP)
        for verb in (("status",), ("pause", "orders"), ("reload",)):
            with self.subTest(verb):
                self.ends(laneway(*verb, "--admin", address), 69, address, "within 3 s", "stopped", "kill -CONT")
        service.process.send_signal(signal.SIGCONT)
        self.ends(laneway("status", "--admin", address), 0)
        service.until("the process stood still")
        service.process.terminate()
        self.assertEqual(0, service.end(), service.log)
        for change in ("suspend requested", "reload"):
            self.assertNotIn(change, service.log)

    def test_descriptors_that_are_closed_at_the_start_are_not_reused_for_other_files(self):
        journal = Path(self.folder.name) / "journal"
        file = self.file(start_deadline="1h", journal={"file": str(journal)})
        process = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', LANEWAY, "run", "-c", str(file)],
                                   env=environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + LONGEST
        while not journal.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(journal.exists())
        self.assertEqual(["/dev/null"] * 3, [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)])
        process.terminate()
        self.assertEqual(0, process.wait(LONGEST))
        self.assertEqual("", journal.read_text())

    def test_too_few_threads_or_too_little_memory_end_the_start_with_the_reason(self):
        """Limits on memory at which the client library hung, or ended the process, while it started its threads."""
        if b"__asan_init" in Path(LANEWAY).read_bytes():
            self.skipTest("a sanitizer reserves terabytes of addresses")
        limited = 0
        for megabytes in range(110, 220, 10):
            def prepare(size=megabytes * 2 ** 20):
                resource.setrlimit(resource.RLIMIT_STACK, (8 * 2 ** 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
                resource.setrlimit(resource.RLIMIT_AS, (size, size))
            with self.subTest(megabytes):
                done = laneway("run", "-c", self.file(), prepare=prepare)
                self.ends(done, 69, 'msg="cannot start"')
                self.assertNotIn("defect", done.stderr)
                limited += "ulimit -v" in done.stderr
        self.assertGreater(limited, 0)

    def test_too_few_descriptors_end_the_start_with_the_reason(self):
        done = laneway("run", "-c", self.file(), prepare=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)))
        self.ends(done, 69, 'msg="cannot start"', "open files", "ulimit -n", "LimitNOFILE=")

    def test_the_service_may_open_as_many_files_as_the_hard_limit_allows(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        service = self.running(start_deadline="1h", prepare=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard)))
        service.until("admin listening")
        limits = Path(f"/proc/{service.process.pid}/limits").read_text()
        self.assertRegex(limits, rf"Max open files +{hard} +{hard} ")
        service.process.terminate()
        self.assertEqual(0, service.end(), service.log)

    def test_a_signal_while_waiting_for_a_broker_ends_the_service_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                service = self.running(start_deadline="1h")
                service.until("admin listening")
                service.process.send_signal(number)
                self.assertEqual(0, service.end(), service.log)
                self.assertIn(f"signal={signal.Signals(number).name}", service.log)
                self.assertIn("msg=stopped", service.log)

    def test_two_simultaneous_signals_count_as_one(self):
        service = self.running(start_deadline="1h")
        service.until("admin listening")
        service.process.send_signal(signal.SIGINT)
        service.process.send_signal(signal.SIGTERM)
        self.assertEqual(0, service.end(), service.log)
        self.assertNotIn("drain cut short", service.log)

    def test_a_reload_while_waiting_for_a_broker_changes_nothing(self):
        service = self.running(start_deadline="1h", lanes={"workers": 3})
        address = service.until(r'msg="admin listening".* address=(\S+)')[1]
        service.process.send_signal(signal.SIGHUP)
        service.until("msg=reloaded by=SIGHUP changed=0")
        same = laneway("reload", "--admin", address)
        self.assertEqual((0, "nothing has changed\n"), (same.returncode, same.stdout))
        file = self.file(start_deadline="1h", lanes={"workers": 5})
        service.process.send_signal(signal.SIGHUP)
        service.until("reload refused, nothing is changed.* by=SIGHUP .*has not started")
        self.ends(laneway("reload", "--admin", address), 69, "nothing is changed", "has not started")
        dry = laneway("reload", "--admin", address, "--dry-run")
        self.assertEqual((0, "1 setting would be changed:\nlanes.workers: 3 → 5\n"), (dry.returncode, dry.stdout))
        file.write_text(file.read_text().replace("workers", "wrokers"))
        self.ends(laneway("reload", "--admin", address), 78, "the configuration is wrong", "lanes.wrokers", f"{file}:1:")
        service.process.terminate()
        self.assertEqual(0, service.end(), service.log)

    def test_the_log_can_be_json(self):
        service = self.running(start_deadline="1h", log={"format": "json"})
        service.until('"msg":"admin listening"')
        service.process.terminate()
        self.assertEqual(0, service.end(), service.log)
        for line in service.log.splitlines():
            json.loads(line)

    def test_the_service_outlives_the_reader_of_its_log(self):
        # Without the admin server, whose library ignores SIGPIPE too.
        service = self.running(start_deadline="1h", admin={"enabled": False})
        service.until("msg=starting")
        service.process.stderr.close()
        service.process.terminate()  # it reports that it stops, into the closed pipe
        self.assertEqual(0, service.end())


if __name__ == "__main__":
    unittest.main()
