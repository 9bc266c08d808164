// Keys that are right alone and wrong together.
#include <algorithm>

#include "catch.h"
#include "config/loaded.h"

namespace {
std::string with(const std::string& client_lines, const std::string& lines = "") {
  return errors_of("topics: [orders]\nhandler: log\nkafka:\n  bootstrap.servers: a\n  group.id: g\n" +
                   client_lines + lines);
}
}  // namespace

TEST_CASE("the first backoff is at most the longest") {
  CHECK(with("", "retry: { backoff: 1m }\n") ==
        "f.yaml:6:19: retry.backoff: retry.backoff is 1m, more than retry.max_backoff, 30s (lower "
        "retry.backoff, or raise retry.max_backoff)\n");
  CHECK(with("", "retry: { backoff: 30s }\n").empty());
}

TEST_CASE("a rule about a key that is wrong by itself is skipped") {
  CHECK(with("", "retry: { backoff: 1m, max_backoff: soon }\n") ==
        "f.yaml:6:36: retry.max_backoff: found \"soon\", which does not start with a number (expected a "
        "duration from 1ms to 24h, such as 500ms, 2s or 1m)\n");
}

TEST_CASE("dead letters do not go to a consumed topic") {
  CHECK(with("", "dead_letter: { topic: orders }\n") ==
        "f.yaml:6:23: dead_letter.topic: the dead letters of orders would go to orders, which is consumed "
        "too (choose another name, such as \"{topic}-dlt\")\n");
  CHECK(with("", "dead_letter: { topic: \"{topic}\" }\n").find("would go to orders") != std::string::npos);
  CHECK(with("", "dead_letter: { topic: \"{topic}-dlt\" }\n").empty());
}

namespace {
const std::string letters = "dead_letter: { topic: \"{topic}-dlt\" }\n";
std::string retry_topics(const std::string& delays, const std::string& lines = letters,
                         const std::string& client_lines = "") {
  return with(client_lines, "retry: { topics: " + delays + " }\n" + lines);
}
}  // namespace

TEST_CASE("retry topics need records without order") {
  CHECK(retry_topics("[5s, 1m]").empty());
  CHECK(retry_topics("[5s]", letters + "lanes: { order: none }\n").empty());
  for (const std::string order : {"key", "partition"})
    CHECK(retry_topics("[5s]", letters + "lanes: { order: " + order + " }\n") ==
          "f.yaml:6:18: retry.topics: with lanes.order: " + order +
              " retry topics would break the order: later records overtake a record that is in a retry topic "
              "(set lanes.order: none, or remove retry.topics: a failed record then waits in its lane)\n");
  CHECK(with("", letters + "lanes: { order: key }\nretry: { topics: [] }\n").empty());
}

TEST_CASE("the delays of retry topics rise, and are durations") {
  CHECK(retry_topics("[5s, 5000ms]") ==
        "f.yaml:6:18: retry.topics: found a list: 5000ms is not longer than 5s before it (expected a list of "
        "rising durations from 1ms to 168h, such as [5s, 1m, 10m])\n");
  CHECK(retry_topics("[1m, 5s]").find("5s is not longer than 1m before it") != std::string::npos);
  CHECK(retry_topics("[soon]").find("does not start with a number") != std::string::npos);
  CHECK(retry_topics("[169h]").find("out of range") != std::string::npos);
}

TEST_CASE("retry topics need a dead-letter topic") {
  CHECK(retry_topics("[5s]", "") ==
        "f.yaml:6:18: retry.topics: a record that fails after the last retry topic needs a dead-letter topic "
        "(set dead_letter.topic, such as \"{topic}-dlt\")\n");
}

TEST_CASE("retry topics need auto.offset.reset: earliest") {
  CHECK(retry_topics("[5s]", letters, "  auto.offset.reset: earliest\n").empty());
  CHECK(retry_topics("[5s]", letters, "  auto.offset.reset: latest\n")
            .find("records that are written to a retry topic before its first commit would be skipped") !=
        std::string::npos);
}

TEST_CASE("a retry topic is not another topic of the service") {
  const auto of = [](const std::string& topics, const std::string& more) {
    return errors_of("kafka: { bootstrap.servers: a, group.id: g }\nhandler: log\ntopics: " + topics +
                     "\nretry: { topics: [5s] }\n" + more);
  };
  CHECK(of("[orders, orders-retry-1m]", letters).empty());
  CHECK(of("[orders, orders-retry-5s]", letters)
            .find("the retry topic orders-retry-5s of orders is consumed too") != std::string::npos);
  CHECK(of("[orders]", "dead_letter: { topic: \"{topic}-retry-5s\" }\n")
            .find("the dead letters of orders would go to its retry topic orders-retry-5s") !=
        std::string::npos);
  CHECK(of("^orders", letters).find("topics is a pattern") != std::string::npos);
  CHECK(of("[" + std::string(245, 'a') + "]", letters).find("longer than 249") != std::string::npos);
}

TEST_CASE("produce does not write to a retry topic") {
  const auto to = [](const std::string& topic) {
    return errors_of(
        "kafka: { bootstrap.servers: a, group.id: g }\ntopics: [orders]\nhandler: { produce: { topic: " +
        topic + " } }\nretry: { topics: [5s] }\n" + letters);
  };
  CHECK(to("orders-out").empty());
  CHECK(to("orders-retry-5s").find("its records would circulate forever") != std::string::npos);
}

TEST_CASE("max_incomplete gives every worker a record") {
  CHECK(with("", "lanes: { workers: 8, max_incomplete: 7 }\n") ==
        "f.yaml:6:38: lanes.max_incomplete: lanes.max_incomplete is 7, less than lanes.workers, 8, so some "
        "workers would never run a record (set lanes.max_incomplete to at least lanes.workers)\n");
}

TEST_CASE("null_keys needs order by key") {
  CHECK(with("", "lanes: { null_keys: ordered }\n") ==
        "f.yaml:6:21: lanes.null_keys: null_keys has no effect unless lanes.order is key (set lanes.order: "
        "key, or remove null_keys)\n");
}

namespace {
std::string produce(const std::string& settings, const std::string& topics = "[orders, bills]") {
  return errors_of("kafka: { bootstrap.servers: a, group.id: g }\ntopics: " + topics +
                   "\nhandler: { produce: " + settings + " }\n");
}
}  // namespace

TEST_CASE("produce needs a topic, or a header that names one of several topics") {
  CHECK(produce("{}") ==
        "f.yaml:3:21: handler.produce.topic: this key is missing (the topic to which records are written, "
        "such as \"{topic}-out\")\n");
  CHECK(produce("{ topic: out }").empty());
  CHECK(produce("{ topic_header: to, topics: [x] }").empty());
  CHECK(produce("{ topic_field: /to/topic, topics: [x] }").empty());
  CHECK(produce("{ topic_field: /to }").find("could name any topic") != std::string::npos);
  CHECK(produce("{ topic_field: /to, topic_header: to, topics: [x] }").find("remove one of the two") !=
        std::string::npos);
  CHECK(produce("{ topic_field: to, topics: [x] }").find("does not begin with a /") != std::string::npos);
  CHECK(produce("{ topic_field: /a~b, topics: [x] }").find("~ is written as ~0") != std::string::npos);
  CHECK(produce("{ topic: out, key_header: id }").empty());
  CHECK(produce("{ topic: out, key: keep, key_field: /id }").empty());
  CHECK(produce("{ topic: out, key_field: id }").find("does not begin with a /") != std::string::npos);
  CHECK(produce("{ topic: out, key_header: id, key_field: /id }").find("key_header sets the key already") !=
        std::string::npos);
  CHECK(produce("{ topic: out, key: none, key_field: /id }").find("contradicts key_header and key_field") !=
        std::string::npos);
  CHECK(produce("{ topic: out, rename_headers: { a: b, \"c d\": \"\" } }").empty());
  CHECK(produce("{ topic: out, headers: none, rename_headers: { a: b } }").find("drops all headers") !=
        std::string::npos);
  CHECK(produce("{ topic: out, rename_headers: [a] }").find("a map of header names") != std::string::npos);
  CHECK(produce("{ topic: out, rename_headers: { a: [b] } }").find("expected the new name of the header") !=
        std::string::npos);
  CHECK(produce("{ topic: out, rename_headers: { \"\": b } }").find("the name of a header is empty") !=
        std::string::npos);
  CHECK(produce("{ topic_header: to }").find("so a record could name any topic") != std::string::npos);
  CHECK(produce("{ topic: out, topics: [x] }").find("no effect without topic_header or topic_field") !=
        std::string::npos);
}

TEST_CASE("produce does not write to a consumed topic") {
  const std::string round = "would circulate forever";
  CHECK(produce("{ topic: bills }").find("\"bills\" is consumed too") != std::string::npos);
  CHECK(produce("{ topic: \"{topic}\" }").find(round) != std::string::npos);
  CHECK(produce("{ topic: \"{topic}-out\" }", "[orders, orders-out]").find(round) != std::string::npos);
  CHECK(produce("{ topic_header: to, topics: [x, orders] }").find(round) != std::string::npos);
  // A mirror: the same name in another cluster.
  CHECK(produce("{ topic: \"{topic}\", kafka: { bootstrap.servers: \"b:1\" } }").empty());
}

TEST_CASE("transactional needs one member, one cluster and only committed records") {
  const std::string exactly_once = "{ topic: out, transactional: true }";
  CHECK(produce(exactly_once).empty());
  CHECK(produce(exactly_once + " }\nconsumers: 2\nlog: { level: info").find("one group member") !=
        std::string::npos);
  CHECK(produce("{ topic: out, transactional: true, kafka: { bootstrap.servers: \"b:1\" } }")
            .find("a transaction belongs to one cluster") != std::string::npos);
  CHECK(produce(exactly_once + " }\ndead_letter: { topic: dead").empty());
  CHECK(errors_of("kafka: { bootstrap.servers: a, group.id: g, isolation.level: read_uncommitted }\ntopics: "
                  "[orders]\nhandler: { produce: " +
                  exactly_once + " }\n")
            .find("must not be consumed") != std::string::npos);
}

TEST_CASE("a producer's own client keys are those of the list") {
  CHECK(produce("{ topic: out, kafka: { linger.ms: 20, compression.type: lz4 } }").empty());
  CHECK(produce("{ topic: out, kafka: { acks: 1 } }").find("does not accept this key") != std::string::npos);
  CHECK(produce("{ topic: out, kafka: { fetch.min.bytes: 1 } }").find("does not accept this key") !=
        std::string::npos);
  CHECK(produce("{ topic: out, kafka: { linger.ms: soon } }").find("linger.ms must be a whole number from") !=
        std::string::npos);
  CHECK(produce("{ topic: ^out }").find("a pattern") != std::string::npos);
}

TEST_CASE("the rules for TLS and credentials hold for a producer's own client keys") {
  const auto in = [](const std::string& kafka, const std::string& own, const std::string& more = "") {
    return errors_of("kafka: { bootstrap.servers: a, group.id: g" + kafka +
                     " }\ntopics: [orders]\nhandler: { produce: { topic: out, kafka: { " + own + " } } }\n" +
                     more);
  };
  const std::string at = "f.yaml:3:42: handler.produce.kafka: ";
  const std::string unchecked = "security.protocol: ssl, enable.ssl.certificate.verification: false";
  CHECK(in("", unchecked) ==
        at + "enable.ssl.certificate.verification: laneway would not check the brokers' certificates (remove "
             "this key, or set allow_insecure: true if this is intended)\n");
  CHECK(in("", unchecked, "allow_insecure: true\n").empty());
  CHECK(in("", "security.protocol: ssl, ssl.endpoint.identification.algorithm: none")
            .find("laneway would not check the brokers' names") != std::string::npos);
  CHECK(in("", "ssl.ca.location: /ca.pem") ==
        at + "ssl.ca.location: this key has no effect while security.protocol is plaintext (set "
             "security.protocol: ssl or sasl_ssl)\n");
  CHECK(in(", security.protocol: ssl", "ssl.ca.location: /ca.pem").empty());
  CHECK(in("", "sasl.username: u").find("no effect while security.protocol is plaintext") !=
        std::string::npos);

  const std::string login =
      ", security.protocol: sasl_ssl, sasl.mechanism: PLAIN, sasl.username: u, sasl.password: p";
  CHECK(in(login, "linger.ms: 5").empty());
  CHECK(in(login, "sasl.mechanisms: PLAIN").find("are the same key") != std::string::npos);
  CHECK(in(login, "bootstrap.servers: b")
            .find("sasl.username is missing (the credentials of kafka are not used for other brokers") !=
        std::string::npos);
  CHECK(in(login, "bootstrap.servers: b, sasl.username: u, sasl.password: p").empty());
  CHECK(in(login, "bootstrap.servers: b, security.protocol: ssl").empty());
}

TEST_CASE("an address that the client could never connect to is refused") {
  const auto with_servers = [](const std::string& servers, const std::string& more = "") {
    return errors_of("kafka: { bootstrap.servers: \"" + servers + "\", group.id: g" + more +
                     " }\ntopics: [orders]\nhandler: log\n");
  };
  for (const char* right :
       {"a", "a:9092", "a:1, b:65535 ,c,", "[::1]:9092", "[::1]", "::1", "fe80::1%eth0", "PLAINTEXT://a:1"}) {
    CAPTURE(right);
    CHECK(with_servers(right).empty());
  }
  CHECK(with_servers("SSL://a:1", ", security.protocol: ssl").empty());
  const std::string at = "f.yaml:1:29: kafka.bootstrap.servers: ";
  const std::string hint = " (expected HOST:PORT, several separated by commas)\n";
  CHECK(with_servers(",") == at + "the list names no broker" + hint);
  CHECK(with_servers("a:99999") == at + "\"a:99999\" has no port from 1 to 65535 after the colon" + hint);
  CHECK(with_servers("kafka://a:80")
            .find("begins with \"kafka://\"; write \"a:80\", and the protocol in security.protocol, which is "
                  "plaintext") != std::string::npos);
  for (const char* wrong :
       {"a:0", "a:x", "a:", "a:1b", "a:1;b:1", "a:1 b:1", "a:1/x", "[::1]:0", ":9092", "9092", "host:1:2"}) {
    CAPTURE(wrong);
    CHECK(with_servers(wrong).find(std::string("\"") + wrong + "\"") != std::string::npos);
  }
  const auto secret = with_servers("me:open-sesame@a:1");
  CHECK(secret == at + "a broker's address contains no user and no password" + hint);
}

TEST_CASE("records that reach a producer's brokers unencrypted cause a warning") {
  const auto warnings = [](const std::string& own) {
    return loaded(
               "kafka: { bootstrap.servers: a, group.id: g, security.protocol: ssl }\ntopics: "
               "[orders]\nhandler: { produce: { topic: out, kafka: { " +
               own + " } } }\n")
        .warnings;
  };
  CHECK(warnings("linger.ms: 5").empty());
  CHECK(warnings("bootstrap.servers: b").empty());
  const auto plain = warnings("bootstrap.servers: b, security.protocol: plaintext");
  REQUIRE(plain.size() == 1);
  CHECK(plain[0].find("handler.produce.kafka: security.protocol") != std::string::npos);
}

TEST_CASE("a drain is shorter than the group's time limit") {
  CHECK(
      with("  max.poll.interval.ms: 60000\n", "lanes: { drain: 1m }\n") ==
      "f.yaml:7:17: lanes.drain: lanes.drain is 1m, not less than max.poll.interval.ms, 1m: the group would "
      "remove this member during a drain (set a shorter lanes.drain, or a longer max.poll.interval.ms)\n");
  CHECK(with("", "lanes: { drain: 299s }\n").empty());
  CHECK_FALSE(with("", "lanes: { drain: 300s }\n").empty());
}

TEST_CASE("the client's time limits fit each other") {
  CHECK(with("  max.poll.interval.ms: 30000\n") ==
        "f.yaml:6:25: kafka.max.poll.interval.ms: max.poll.interval.ms is 30000, less than "
        "session.timeout.ms, 45000 (the session time-out may be at most as long as max.poll.interval.ms)\n");
  CHECK(with("  session.timeout.ms: 3000\n").find("heartbeat.interval.ms is 3000, not less than") !=
        std::string::npos);
  CHECK(with("  session.timeout.ms: 3001\n").empty());
  CHECK(with("  reconnect.backoff.ms: 20000\n").find("reconnect.backoff.ms is more than") !=
        std::string::npos);
}

TEST_CASE("a process may have several static members, which it numbers") {
  CHECK(with("  group.instance.id: a\n", "consumers: 2\n").empty());
  CHECK(with("  group.instance.id: a\n").empty());
}

TEST_CASE("the rebalance protocol decides which keys are the client's") {
  CHECK(with("  group.protocol: consumer\n  session.timeout.ms: 45000\n") ==
        "f.yaml:7:23: kafka.session.timeout.ms: with kafka.group.protocol: consumer the brokers decide this "
        "(remove this key; for the group, kafka-configs.sh --entity-type groups can set "
        "consumer.session.timeout.ms)\n");
  for (const char* key : {"heartbeat.interval.ms: 1000", "partition.assignment.strategy: range"}) {
    const auto problem = with(std::string("  group.protocol: consumer\n  ") + key + "\n");
    CAPTURE(problem);
    CHECK(problem.find("with kafka.group.protocol: consumer the brokers decide this") != std::string::npos);
    CHECK(std::count(problem.begin(), problem.end(), '\n') == 1);
  }
  CHECK(with("  group.protocol: consumer\n  group.remote.assignor: uniform\n").empty());
  CHECK(with("  group.remote.assignor: uniform\n").find("without group.protocol: consumer") !=
        std::string::npos);
}

TEST_CASE("session limits are not checked when the brokers decide about sessions") {
  CHECK(with("  group.protocol: consumer\n  max.poll.interval.ms: 40000\n").empty());
}

TEST_CASE("assignment strategies are known and not mixed") {
  const auto with_strategy = [](const std::string& s) {
    return with("  partition.assignment.strategy: " + s + "\n");
  };
  CHECK(with_strategy("range,roundrobin").empty());
  CHECK(with_strategy("cooperative-sticky").empty());
  CHECK(with_strategy("sticky").find("found \"sticky\" (expected range, roundrobin") != std::string::npos);
  CHECK(with_strategy("range,cooperative-sticky").find("cannot be combined with another") !=
        std::string::npos);
}

TEST_CASE("credentials that the protocol would not use are refused") {
  CHECK(with("  sasl.username: me\n") ==
        "f.yaml:6:18: kafka.sasl.username: this key has no effect while security.protocol is plaintext (set "
        "security.protocol: sasl_ssl or sasl_plaintext)\n");
  CHECK(with("  security.protocol: SASL_PLAINTEXT\n  ssl.ca.location: /ca\n")
            .find("security.protocol: sasl_ssl)") != std::string::npos);
  CHECK(with("  security.protocol: ssl\n  ssl.ca.location: /ca\n").empty());
}

TEST_CASE("PLAIN and SCRAM need a user and a password") {
  const std::string sasl =
      "  security.protocol: sasl_ssl\n  sasl.mechanism: SCRAM-SHA-256\n  sasl.username: me\n";
  CHECK(with(sasl) ==
        "f.yaml:7:19: kafka.sasl.mechanism: kafka.sasl.password is missing (PLAIN and SCRAM need "
        "sasl.username and sasl.password, or sasl.password_file)\n");
  CHECK(with(sasl + "  sasl.password: x\n").empty());
  CHECK(with(sasl + "  sasl.password: x\n  sasl.mechanisms: PLAIN\n").find("are the same key") !=
        std::string::npos);
}

TEST_CASE("a login without its mechanism, or without the mechanism's settings, is refused with the key") {
  const std::string sasl = "  security.protocol: sasl_ssl\n";
  CHECK(with(sasl + "  sasl.username: me\n  sasl.password: x\n") ==
        "f.yaml:7:18: kafka.sasl.username: kafka.sasl.mechanism is missing; without this key the login uses "
        "Kerberos (set sasl.mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512)\n");
  CHECK(with(sasl).find(
            "kafka.security.protocol: kafka.sasl.mechanism is missing; without this key the login uses "
            "Kerberos (set sasl.mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI)") !=
        std::string::npos);
  CHECK(with(sasl + "  sasl.kerberos.service.name: kafka\n").find("sasl.kerberos.keytab is missing") !=
        std::string::npos);
  CHECK(with(sasl + "  sasl.mechanism: GSSAPI\n").find("sasl.kerberos.keytab is missing") !=
        std::string::npos);
  CHECK(with(sasl + "  sasl.mechanism: GSSAPI\n  sasl.kerberos.min.time.before.relogin: 0\n").empty());
  const auto token = sasl + "  sasl.mechanism: OAUTHBEARER\n";
  CHECK(with(token).find("kafka.sasl.oauthbearer.method: oidc is missing") != std::string::npos);
  const auto oidc = token + "  sasl.oauthbearer.method: oidc\n  sasl.oauthbearer.token.endpoint.url: u\n";
  CHECK(with(oidc).find("sasl.oauthbearer.client.id is missing") != std::string::npos);
  CHECK(with(oidc + "  sasl.oauthbearer.client.id: i\n").find("sasl.oauthbearer.client.secret is missing") !=
        std::string::npos);
  CHECK(with(oidc + "  sasl.oauthbearer.client.id: i\n  sasl.oauthbearer.client.secret: s\n").empty());
}

TEST_CASE("blanks, line breaks and Java syntax in a login are refused") {
  const std::string sasl = "  security.protocol: sasl_ssl\n  sasl.username: me\n  sasl.password: x\n";
  CHECK(with(sasl + "  sasl.mechanism: scram-sha-512\n")
            .find("found \"scram-sha-512\" (expected one of PLAIN, SCRAM-") != std::string::npos);
  const std::string plain = "  security.protocol: sasl_ssl\n  sasl.mechanism: PLAIN\n";
  CHECK(with(plain + "  sasl.username: \"me \"\n  sasl.password: x\n").find("begins or ends with a blank") !=
        std::string::npos);
  CHECK(with(plain + "  sasl.username: me\n  sasl.password: \"x\\n\"\n").find("contains a line break") !=
        std::string::npos);
  CHECK(with(plain + "  sasl.username: me\n  sasl.password: \"\\uFEFFx\"\n").find("byte order mark") !=
        std::string::npos);
  CHECK(
      with(sasl + "  sasl.mechanism: PLAIN\n  sasl.jaas.config: x\n").find("a key of Kafka's Java clients") !=
      std::string::npos);
}

TEST_CASE("a broker with the address of a web server is refused") {
  const auto said =
      errors_of("kafka: { bootstrap.servers: \"https://b:9093\", group.id: g }\ntopics: [t]\nhandler: log\n");
  CHECK(said.find("is the address of a web server, and not of a broker (expected HOST:PORT") !=
        std::string::npos);
}

TEST_CASE("TLS without checks needs an explicit setting") {
  const std::string tls = "  security.protocol: ssl\n";
  const std::string off = tls + "  enable.ssl.certificate.verification: FALSE\n";
  CHECK(with(off) ==
        "f.yaml:7:40: kafka.enable.ssl.certificate.verification: laneway would not check the brokers' "
        "certificates (remove this key, or set allow_insecure: true if this is intended)\n");
  CHECK(with(off, "allow_insecure: true\n").empty());
  CHECK(with(tls + "  ssl.endpoint.identification.algorithm: none\n")
            .find("laneway would not check the brokers' names") != std::string::npos);
  CHECK(with("  enable.sasl.oauthbearer.unsecure.jwt: true\n").find("tokens would not be signed") !=
        std::string::npos);
}
