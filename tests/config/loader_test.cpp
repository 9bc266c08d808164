#include "config/loader.h"

#include <sys/stat.h>

#include "catch.h"
#include "config/client/client_keys.h"
#include "config/output/print.h"
#include "loaded.h"

using namespace laneway;
using namespace laneway::config;

namespace {

/// A file in a folder of its own, gone at the end of the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& content, mode_t mode) {
    char folder[] = "/tmp/laneway-config-XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    folder_ = folder;
    std::ofstream(path()) << content;
    REQUIRE(::chmod(path().c_str(), mode) == 0);
  }
  ~TemporaryFile() {
    std::remove(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/file"; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

const std::string tls =
    "topics: [orders]\nhandler: log\nkafka:\n  bootstrap.servers: b:9093\n  group.id: g\n  "
    "security.protocol: sasl_ssl\n  sasl.mechanism: PLAIN\n  sasl.username: me\n";

}  // namespace

TEST_CASE("the example configurations are valid") {
  for (const char* name :
       {"log.yaml", "http.yaml", "simulate.yaml", "full.yaml", "plugin.yaml", "produce.yaml",
        "examples/exec/python.yaml", "examples/exec/binary.yaml", "examples/exec/shell.yaml"}) {
    INFO(name);
    const auto result = load({example_path(name), {}, {}});
    CHECK(report(result.errors) == "");
    CHECK(result.warnings.empty());
    CHECK(result.config.has_value());
  }
}

TEST_CASE("every value of a file reaches the Config") {
  const auto result = loaded(
      "kafka: { bootstrap.servers: \"a:1,b:2\", group.id: g, session.timeout.ms: 6000 }\ntopics: [orders, "
      "payments]\nhandler: { http: { url: \"https://h/p\", timeout: 3s, content_type: text/plain, headers: "
      "[x-a], max_retry_after: 5s } }\nconsumers: 2\nstart_deadline: 5s\nallow_insecure: true\nlanes: { "
      "workers: 3, queue: 4, order: key, null_keys: ordered, memory: 2MiB, pause_after: 7ms, drain: 8s, "
      "drain_queued: return, max_incomplete: 9 }\ncommit: { interval: 2s, every: 11 }\nretry: { backoff: 1s, "
      "max_backoff: 2s, max_waiting: 3 }\njournal: { file: /tmp/j }\nadmin: { enabled: false, listen: "
      "\"[::1]:0\" }\nlog: { level: warn, format: json }\n");
  REQUIRE(report(result.errors) == "");
  const Config& c = *result.config;
  CHECK(c.client("bootstrap.servers") == "a:1,b:2");
  CHECK(c.client("session.timeout.ms") == "6000");
  CHECK(c.kafka.at("group.id").origin == "f.yaml:1:50");
  CHECK(c.topics == std::vector<std::string>{"orders", "payments"});
  const auto& http = std::get<HttpSettings>(c.handler);
  CHECK(http.url == "https://h/p");
  CHECK(http.timeout == seconds(3));
  CHECK(http.content_type == "text/plain");
  CHECK(http.headers == std::vector<std::string>{"x-a"});
  CHECK(http.max_retry_after == seconds(5));
  CHECK(c.consumers == 2);
  CHECK(c.start_deadline == seconds(5));
  CHECK(c.allow_insecure);
  CHECK(c.unnamed.workers == 3);
  CHECK(c.unnamed.queue == 4);
  CHECK(c.lanes.order == Order::key);
  CHECK(c.lanes.null_keys == NullKeys::ordered);
  CHECK(c.lanes.memory == 2 << 20);
  CHECK(c.lanes.pause_after == milliseconds(7));
  CHECK(c.lanes.drain == seconds(8));
  CHECK(c.lanes.drain_queued == DrainQueued::give_back);
  CHECK(c.lanes.max_incomplete == 9);
  CHECK(c.commit.interval == seconds(2));
  CHECK(c.commit.every == 11);
  CHECK(c.retry.backoff == seconds(1));
  CHECK(c.retry.max_backoff == seconds(2));
  CHECK(c.retry.max_waiting == 3);
  CHECK(c.journal.file == "/tmp/j");
  CHECK_FALSE(c.admin.enabled);
  CHECK(c.admin.listen == "[::1]:0");
  CHECK(c.log.level == LogLevel::warn);
  CHECK(c.log.format == LogFormat::json);
}

TEST_CASE("a key that the file leaves out has its default") {
  const auto result = loaded(base + "lanes:\n");
  REQUIRE(report(result.errors) == "");
  CHECK(result.config->unnamed.workers == 8);
  CHECK(result.config->client("auto.offset.reset") == "earliest");
  CHECK(result.config->kafka.at("auto.offset.reset").origin == "default");
}

TEST_CASE("a handler is a name, a group or an empty group") {
  const std::string rest = base.substr(0, base.find("handler"));
  CHECK(std::holds_alternative<LogSettings>(loaded(rest + "handler: log\n").config->handler));
  CHECK(std::holds_alternative<LogSettings>(loaded(rest + "handler: { log: }\n").config->handler));
  const auto simulate =
      loaded(rest + "handler: { simulate: { sleep: { p50: 5ms, p99: 1s }, hang_partitions: [0, 3] } }\n");
  REQUIRE(report(simulate.errors) == "");
  const auto& handler = std::get<SimulateSettings>(simulate.config->handler);
  CHECK(handler.sleep.p50 == milliseconds(5));
  CHECK(handler.sleep.p99 == seconds(1));
  CHECK(handler.hang_partitions == std::vector<std::int32_t>{0, 3});
  const auto fixed = loaded(rest + "handler: { simulate: { sleep: 0ms, fail: 0.25 } }\n");
  REQUIRE(report(fixed.errors) == "");
  CHECK(std::get<SimulateSettings>(fixed.config->handler).sleep.p50 == Duration::zero());
  CHECK_FALSE(std::get<SimulateSettings>(fixed.config->handler).sleep.p99);
  CHECK(std::get<SimulateSettings>(fixed.config->handler).fail == 0.25);
}

TEST_CASE("--set overrides the environment, which overrides the file") {
  const std::string text = base + "lanes: { workers: 1, queue: 1, drain: 1s }\n";
  const auto result =
      loaded(text, {{"LANEWAY_LANES__QUEUE", "2"}, {"LANEWAY_LANES__DRAIN", "2s"}, {"PATH", "/bin"}},
             {"lanes.drain=3s"});
  REQUIRE(report(result.errors) == "");
  CHECK(result.config->unnamed.workers == 1);
  CHECK(result.config->unnamed.queue == 2);
  CHECK(result.config->lanes.drain == seconds(3));
}

TEST_CASE("lists, groups and client keys can be overridden") {
  const auto result =
      loaded(base,
             {{"LANEWAY_KAFKA__BOOTSTRAP_SERVERS", "e:1"},
              {"LANEWAY_KAFKA__MAX_POLL_INTERVAL_MS", "400000"},
              {"LANEWAY_TOPICS", "[a, b]"}},
             {"kafka.group.id=other", "handler=simulate", "handler.simulate.sleep={p50: 1ms, p99: 2ms}"});
  REQUIRE(report(result.errors) == "");
  CHECK(result.config->client("bootstrap.servers") == "e:1");
  CHECK(result.config->kafka.at("bootstrap.servers").origin == "LANEWAY_KAFKA__BOOTSTRAP_SERVERS");
  CHECK(result.config->client("max.poll.interval.ms") == "400000");
  CHECK(result.config->kafka.at("group.id").origin == "--set kafka.group.id");
  CHECK(result.config->topics == std::vector<std::string>{"a", "b"});
  CHECK(std::get<SimulateSettings>(result.config->handler).sleep.p99 == milliseconds(2));
  CHECK(loaded(base, {}, {"topics=^ord.*"}).config->topics == std::vector<std::string>{"^ord.*"});
}

TEST_CASE("a value from outside the file is taken literally, also with special characters") {
  const auto result =
      loaded(tls, {{"LANEWAY_KAFKA__SASL_PASSWORD", "*a: ${b} #c"}, {"LANEWAY_KAFKA__CLIENT_ID", "x"}});
  REQUIRE(report(result.errors) == "");
  CHECK(result.config->client("sasl.password") == "*a: ${b} #c");
  CHECK(result.config->kafka.at("sasl.password").secret);
  CHECK_FALSE(result.config->kafka.at("client.id").secret);
}

TEST_CASE("variables are replaced in the file's values, also in lists, and nowhere else") {
  const auto result = loaded(tls + "  sasl.password: \"a${SECRET}b$${SECRET}$$c$\"\n  client.id: \"${ID}\"\n",
                             {{"SECRET", "${ID}"}, {"ID", "me: [x"}});
  REQUIRE(report(result.errors) == "");
  CHECK(result.config->client("sasl.password") == "a${ID}b${SECRET}$$c$");
  CHECK(result.config->client("client.id") == "me: [x");
  const std::string rest = "kafka: { bootstrap.servers: a, group.id: b }\nhandler: log\n";
  CHECK(loaded(rest + "topics: [\"${A}\", \"b\"]\n", {{"A", "a"}}).config->topics ==
        std::vector<std::string>{"a", "b"});
}

TEST_CASE("a variable that cannot be replaced is named") {
  CHECK(errors_of(base + "journal: { file: \"/x/${HOST}\" }\n") ==
        "f.yaml:7:18: journal.file: the environment has no variable HOST (set the variable, or write $${ for "
        "${ itself)\n");
  CHECK(errors_of(base + "journal: { file: \"${HO\" }\n") ==
        "f.yaml:7:18: journal.file: found ${ without a closing } (write ${NAME}, or $${ for ${ itself)\n");
  CHECK(errors_of(base + "journal: { file: \"${A-B}\" }\n") ==
        "f.yaml:7:18: journal.file: found \"${A-B}\", which is not the name of a variable (write ${NAME}, or "
        "$${ for ${ itself)\n");
  CHECK(errors_of(base + "journal: { file: ${HOME} }\n") ==
        "f.yaml:7:19: the YAML cannot be read here (inside { } and [ ] a variable needs quotes: "
        "\"${NAME}\")\n");
}

TEST_CASE("the content of a variable is not shown") {
  CHECK(errors_of(base + "lanes:\n  workers: ${N}\n", {{"N", "canary"}}) ==
        "f.yaml:8:12: lanes.workers: found \"${N}\" (its content is not shown) (expected a whole number from "
        "1 to 4096, or { min, max, algorithm })\n");
}

TEST_CASE("a secret comes from a file without the newline at its end") {
  const TemporaryFile file("hunter2\n", 0600);
  const auto result = loaded(tls + "  sasl.password_file: " + file.path() + "\n");
  REQUIRE(report(result.errors) == "");
  CHECK(result.config->client("sasl.password") == "hunter2");
  CHECK(result.config->kafka.at("sasl.password").secret);
  const auto from_environment =
      loaded(tls + "  sasl.password: other\n", {{"LANEWAY_KAFKA__SASL_PASSWORD_FILE", file.path()}});
  REQUIRE(report(from_environment.errors) == "");
  CHECK(from_environment.config->client("sasl.password") == "hunter2");
}

TEST_CASE("a secret's file that is open to all, empty or missing is refused") {
  const TemporaryFile open("hunter2\n", 0644);
  const std::string at = "f.yaml:9:23: kafka.sasl.password_file: found ";
  CHECK(errors_of(tls + "  sasl.password_file: " + open.path() + "\n") ==
        at + "\"" + open.path() +
            "\": everyone on this machine may read or write the file (a file with a secret must be private: "
            "chmod o-rw FILE)\n");
  const TemporaryFile empty("\n", 0600);
  CHECK(errors_of(tls + "  sasl.password_file: " + empty.path() + "\n") ==
        at + "\"" + empty.path() + "\": the file is empty (write the secret into the file)\n");
  CHECK(errors_of(tls + "  sasl.password_file: /no/such\n") ==
        at + "\"/no/such\": the file cannot be opened: No such file or directory (check the path)\n");
  CHECK(loaded(tls + "  sasl.password_file: /no/such\n").kind() == ErrorKind::configuration);
}

TEST_CASE("the row of a client key that names a file has what the file contains") {
  for (const ClientKey& key : client_keys()) {
    INFO(key.name);
    const bool names_file = key.name.ends_with(".location") || key.name.ends_with(".keytab");
    CHECK((key.file != ClientKey::File::none) == names_file);
  }
}

TEST_CASE("a private key that everyone may read is refused, also if the client library reads it") {
  const TemporaryFile open("c4n4ry\n", 0604);
  const TemporaryFile closed("c4n4ry\n", 0640);
  for (const std::string key : {"ssl.key.location", "ssl.keystore.location", "sasl.kerberos.keytab"}) {
    INFO(key);
    const std::string refusal = "found \"" + open.path() + "\": ";
    const std::string why =
        "everyone on this machine may read or write the file (a file with a secret must be private: chmod "
        "o-rw FILE)";
    CHECK(
        errors_of(tls + "  " + key + ": " + open.path() + "\n").find("kafka." + key + ": " + refusal + why) !=
        std::string::npos);
    CHECK(errors_of(tls + "  " + key + ": " + closed.path() + "\n").find("everyone") == std::string::npos);
    CHECK(errors_of(tls + "  " + key + ": /no/such\n").find("/no/such") == std::string::npos);
    const auto produce = [&](const std::string& path) {
      return errors_of(base.substr(0, base.find("  log:")) + "  produce: { topic: out, kafka: { " + key +
                       ": " + path + " } }\n");
    };
    CHECK(produce(open.path()).find(refusal + key + ": " + why) != std::string::npos);
    CHECK(produce(closed.path()).find("everyone") == std::string::npos);
  }
}

namespace {
std::string http_with(const std::string& lines) {
  return base.substr(0, base.find("handler:")) + "handler:\n  http:\n    url: https://h/x\n" + lines;
}
}  // namespace

TEST_CASE("a web service's authorization and certificates come from files") {
  const TemporaryFile token("Bearer c4n4ry\n", 0600);
  const TemporaryFile ca("-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n", 0644);
  const auto result =
      loaded(http_with("    authorization_file: " + token.path() + "\n    ca_file: " + ca.path() + "\n"));
  REQUIRE(report(result.errors) == "");
  const auto& http = std::get<config::HttpSettings>(result.config->handler);
  CHECK(http.authorization == "Bearer c4n4ry");
  CHECK(http.ca.starts_with("-----BEGIN CERTIFICATE-----"));
}

TEST_CASE("unusable files of a web service are refused, and secrets are not shown") {
  const auto refused = [](const std::string& key, const std::string& content, int mode) {
    const TemporaryFile file(content, mode);
    const auto error = errors_of(http_with("    " + key + ": " + file.path() + "\n"));
    CHECK(error.find("handler.http." + key + ": found \"" + file.path() + "\": ") != error.npos);
    CHECK(error.find("c4n4ry") == error.npos);
    return error;
  };
  const auto says = [](const std::string& error, const char* what) { return error.find(what) != error.npos; };
  CHECK(says(refused("authorization_file", "Bearer c4n4ry", 0644), "everyone on this machine"));
  CHECK(says(refused("authorization_file", "Bearer\nc4n4ry", 0600), "the file contains a line break"));
  CHECK(says(refused("authorization_file", "", 0600), "the file is empty"));
  CHECK(says(refused("ca_file", "c4n4ry", 0644), "the file contains no certificate"));
}

TEST_CASE("a request has one authorization") {
  const TemporaryFile token("Bearer c4n4ry\n", 0600);
  const auto file = "    authorization_file: " + token.path() + "\n";
  CHECK(errors_of(http_with(file + "    headers: [authorization]\n"))
            .find("authorization_file: handler.http.headers also passes on") != std::string::npos);
  auto with_user = http_with(file);
  with_user.replace(with_user.find("https://h"), 9, "https://a:b@h");
  CHECK(errors_of(with_user).find("authorization_file: the user in handler.http.url is sent") !=
        std::string::npos);
}

TEST_CASE("a secret is set once, not on the command line, and only secrets come from files") {
  CHECK(errors_of(tls + "  sasl.password: x\n  sasl.password_file: /y\n") ==
        "f.yaml:10:23: kafka.sasl.password_file: the secret is set twice, also as kafka.sasl.password "
        "(remove one of the two)\n");
  CHECK(errors_of(tls + "  sasl.password: x\n", {}, {"kafka.sasl.password=canary"}) ==
        "--set kafka.sasl.password: every user of the machine can see a secret on the command line (use "
        "kafka.sasl.password_file, or the variable LANEWAY_KAFKA__SASL_PASSWORD)\n");
  CHECK(errors_of(base, {}, {"kafka.client.id_file=/x"}) ==
        "--set kafka.client.id_file: only the value of a secret can be read from a file (write "
        "kafka.client.id with the value itself)\n");
}

TEST_CASE("no error shows a secret") {
  const std::string canary = "c4n4ry";
  const auto shown =
      errors_of(tls + "  sasl.password: [" + canary + "]\n  ssl.key.password: {a: " + canary +
                    "}\n  sasl.oauthbearer.client.secret: \"" + canary + "\\0\"\n  ssl.key.pem: \"\"\n",
                {{"LANEWAY_KAFKA__SSL_KEYSTORE_PASSWORD", canary + std::string(1, '\0')}});
  CHECK(shown.find("sasl.password") != shown.npos);
  CHECK(shown.find(
            "LANEWAY_KAFKA__SSL_KEYSTORE_PASSWORD: kafka.ssl.keystore.password: the secret is refused") !=
        shown.npos);
  CHECK(shown.find(canary) == shown.npos);
}

TEST_CASE("a file that cannot be read is missing input, and one that is too large is bad configuration") {
  CHECK(report(load({"/no/such.yaml", {}, {}}).errors) ==
        "/no/such.yaml: the file cannot be opened: No such file or directory (check the path)\n");
  CHECK(load({"/no/such.yaml", {}, {}}).kind() == ErrorKind::no_input);
  CHECK(report(load({"/tmp", {}, {}}).errors) ==
        "/tmp: this is a directory (name a file in the directory)\n");
  CHECK(load({"/tmp", {}, {}}).kind() == ErrorKind::no_input);
  CHECK(load({"/dev/null", {}, {}}).kind() == ErrorKind::no_input);
  const TemporaryFile fits(base + std::string((1 << 20) - base.size(), '#'), 0644);
  CHECK(report(load({fits.path(), {}, {}}).errors) == "");
  const TemporaryFile large(base + std::string((1 << 20) - base.size() + 1, '#'), 0644);
  const auto result = load({large.path(), {}, {}});
  CHECK(report(result.errors) ==
        large.path() + ": the file is larger than 1MiB (check that this is the right file)\n");
  CHECK(result.kind() == ErrorKind::configuration);
}

TEST_CASE("the kind of the error tells a wrong --set from a wrong file or environment") {
  CHECK(loaded(base, {}, {"lanes.workers=x"}).kind() == ErrorKind::usage);
  CHECK(loaded(base, {{"LANEWAY_LANES__WORKERS", "x"}}).kind() == ErrorKind::configuration);
  CHECK(loaded(base + "lanes: { workers: x }\n").kind() == ErrorKind::configuration);
  CHECK(load({"/no/such.yaml", {"lanes.workers=x"}, {}}).kind() == ErrorKind::usage);
}

TEST_CASE("at most fifty errors are printed") {
  std::string text = base + "lanes:\n";
  for (int i = 0; i < 60; ++i) text += "  x" + std::to_string(i) + ": 1\n";
  const auto shown = errors_of(text);
  CHECK(std::count(shown.begin(), shown.end(), '\n') == 51);
  CHECK(shown.ends_with("\nand 10 more\n"));
}

TEST_CASE("records that leave the machine unencrypted cause a warning") {
  const std::string text =
      "topics: [a]\nhandler: log\nkafka: { group.id: g, bootstrap.servers: \"127.0.0.1:1,b:2\" }\n";
  CHECK(loaded(base).warnings.empty());
  CHECK(loaded(text).warnings ==
        std::vector<std::string>{
            "records travel unencrypted to brokers on other machines (set kafka.security.protocol: ssl or "
            "sasl_ssl, or allow_insecure: true if this is intended)"});
  CHECK(loaded(text + "allow_insecure: true\n").warnings.empty());
  CHECK(loaded(text, {}, {"kafka.security.protocol=SSL"}).warnings.empty());
  for (const auto* name : {"127.shop.example:1", "localhost.shop.example:1"})
    CHECK(loaded(base, {}, {std::string("kafka.bootstrap.servers=") + name}).warnings.size() == 1);
}

TEST_CASE("credentials that leave the machine unencrypted cause a warning") {
  const TemporaryFile token("Bearer abc", 0600);
  const auto warnings = [&](const std::string& url, const std::string& more = {}) {
    return loaded("topics: [a]\nkafka: { group.id: g, bootstrap.servers: \"127.0.0.1:1\" }\n" + more +
                  "handler: { http: { url: \"" + url + "\", authorization_file: " + token.path() + " } }\n")
        .warnings;
  };
  for (const auto* url : {"http://shop.example/orders", "HTTP://10.0.0.1:8080", "http://127.shop.example/",
                          "http://localhost.shop.example/"})
    CHECK(warnings(url) ==
          std::vector<std::string>{"the credentials of handler.http.authorization_file travel unencrypted to "
                                   "a web service on another machine, with the records (use an https:// "
                                   "address, or set allow_insecure: true if this is intended)"});
  for (const auto* url : {"https://shop.example/orders", "http://127.0.0.1:8080/x@shop", "http://LOCALHOST:1",
                          "http://[::1]:8080/orders"})
    CHECK(warnings(url).empty());
  CHECK(warnings("http://shop.example/orders", "allow_insecure: true\n").empty());
  CHECK_THAT(loaded("topics: [a]\nkafka: { group.id: g, bootstrap.servers: \"127.0.0.1:1\" }\nhandler: { "
                    "http: { url: \"http://user:c4n4ry@shop.example/orders\" } }\n")
                 .warnings.at(0),
             Catch::StartsWith("the user and password in handler.http.url travel unencrypted"));
}

TEST_CASE("headers for a collector that leave the machine unencrypted cause a warning") {
  const auto warnings = [](const std::string& url, const std::string& more, const std::string& variable) {
    const auto loaded =
        load_text("kafka: { bootstrap.servers: 127.0.0.1:1, group.id: g }\ntopics: [t]\nhandler: log\n" +
                      more + "trace: { otlp: \"" + url + "\" }\n",
                  {"f.yaml", {}, {{"OTEL_EXPORTER_OTLP_HEADERS", variable}}});
    REQUIRE(report(loaded.errors) == "");
    return loaded.warnings;
  };
  const std::string token = "authorization=Bearer%20c4n4ry";
  for (const auto* url : {"http://collector.example:4318/v1/traces", "HTTP://10.0.0.1:4318/v1/traces"}) {
    const auto found = warnings(url, "", token);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found.front(),
               Catch::StartsWith("the headers for the collector (trace.headers, OTEL_EXPORTER_OTLP_HEADERS) "
                                 "travel unencrypted") &&
                   !Catch::Contains("c4n4ry"));
    CHECK(warnings(url, "", "").empty());
    CHECK(warnings(url, "allow_insecure: true\n", token).empty());
  }
  for (const auto* url : {"https://collector.example:4318/v1/traces", "http://127.0.0.1:4318/v1/traces"})
    CHECK(warnings(url, "", token).empty());
}

TEST_CASE("headers for a collector come from the file or OpenTelemetry's variables, and are secrets") {
  const std::string plain = "kafka: { bootstrap.servers: h, group.id: g }\ntopics: [t]\nhandler: log\n";
  const std::string otlp = "trace:\n  otlp: http://c:4318/v1/traces\n";
  const auto with = [&](const std::string& text, const std::map<std::string, std::string>& environment) {
    return load_text(plain + text, {"f.yaml", {}, environment});
  };
  const std::string all = "OTEL_EXPORTER_OTLP_HEADERS", of_traces = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
  const auto both = with(otlp + "  headers: { Authorization: \"Bearer ${TOKEN}\" }\n",
                         {{"TOKEN", "hunter2"}, {all, "authorization=other, x-tenant = a%2Cb%20c,"}});
  REQUIRE(report(both.errors) == "");
  CHECK(both.config->trace.headers ==
        std::map<std::string, std::string>{{"Authorization", "Bearer hunter2"}, {"x-tenant", "a,b c"}});
  CHECK(print(*both.config).find("hunter2") == std::string::npos);
  CHECK_THAT(print(*both.config), Catch::Contains("Authorization: \"*****\""));
  CHECK(with(otlp, {{all, "a=1"}, {of_traces, "b=2"}}).config->trace.headers ==
        std::map<std::string, std::string>{{"b", "2"}});
  CHECK(with("", {{all, "a=1"}}).config->trace.headers.empty());
  for (const auto& [text, variable] : std::vector<std::pair<std::string, std::string>>{
           {otlp, "hunter2"}, {otlp, "a=hunter2\n"}, {otlp, "content-type=hunter2"}}) {
    const auto wrong = report(with(text, {{all, variable}}).errors);
    CHECK_THAT(wrong, Catch::StartsWith(all + ": ") && !Catch::Contains("hunter2"));
  }
  for (const auto* headers :
       {"hunter2", "[hunter2]", "{ \"a b\": hunter2 }", "{ a: [hunter2] }", "{ host: hunter2 }"}) {
    const auto wrong = report(with(otlp + "  headers: " + headers + "\n", {}).errors);
    CHECK_THAT(wrong, Catch::Contains("trace.headers") && !Catch::Contains("hunter2"));
  }
}
