#include "config/schema/other_names.h"

#include "catch.h"
#include "config/loaded.h"
#include "config/schema/names.h"

using namespace laneway::config;

TEST_CASE("the names of other programs lead to laneway's keys") {
  const std::pair<const char*, const char*> rows[] = {
      {"dlq", "dead_letter.topic"},
      {"dlq.topic", "dead_letter.topic"},
      {"dead-letter-queue", "dead_letter.topic"},
      {"logging", "log"},
      {"logging.level", "log.level"},
      {"brokers", "kafka.bootstrap.servers"},
      {"kafka.brokers", "kafka.bootstrap.servers"},
      {"bootstrap_servers", "kafka.bootstrap.servers"},
      {"group_id", "kafka.group.id"},
      {"concurrency", "lanes.workers"},
      {"parallelism", "lanes.workers"},
      {"webhook", "handler.http"},
      {"webhook.url", "handler.http"},
      {"retries", "retry.attempts"},
      {"maxRetries", "retry.attempts"},
      {"bootstrapServers", "kafka.bootstrap.servers"},
      {"errors.deadletterqueue.topic.name", "dead_letter.topic"},
      {"healthcheck", "admin.listen"},
      {"max_retries", "retry.attempts"},
      {"metrics", "admin.listen"},
      {"port", "admin.listen"},
      {"input", "topics"},
      {"output", "handler"},
      {"timeout", "handler.http.timeout"},
      {"dlqs", nullptr},
      {"lanes.workers", nullptr},
      {"", nullptr}};
  for (const auto& [name, key] : rows) {
    CAPTURE(name);
    CHECK(key_for_other_name(name) == (key == nullptr ? std::nullopt : std::optional<std::string>(key)));
  }
}

TEST_CASE("each suggested key exists, and each name in the table does not") {
  for (const char* name : {"dlq",         "logging",
                           "brokers",     "concurrency",
                           "webhook",     "group",
                           "consumer",    "input",
                           "output",      "threads",
                           "parallelism", "retries",
                           "max_retries", "dead_letter_queue",
                           "timeout",     "metrics",
                           "port",        "bootstrap_servers",
                           "source",      "sink",
                           "pipeline",    "http",
                           "exec",        "command",
                           "script",      "url",
                           "tls",         "ssl",
                           "sasl",        "batch_size",
                           "memory",      "ordering",
                           "log_level",   "tracing",
                           "otel",        "circuit_breaker",
                           "backoff"}) {
    CAPTURE(name);
    const auto key = key_for_other_name(name);
    REQUIRE(key);
    CHECK((is_section(*key) || !object_to(*key)));
    CHECK(object_to(name)->hint == "did you mean " + *key + "?");
  }
}

TEST_CASE("a required key under another name is not reported as missing, too") {
  CHECK(errors_of("brokers: a\ngroup_id: g\ntopics: [a]\nhandler: log\n") ==
        "f.yaml:1:1: brokers: this key does not exist (did you mean kafka.bootstrap.servers?)\n"
        "f.yaml:2:1: group_id: this key does not exist (did you mean kafka.group.id?)\n");
  CHECK(errors_of("kafka: { bootstrap.servers: a, group.id: g }\ntopics: [a]\nwebhook: { url: x }\n") ==
        "f.yaml:3:1: webhook: this key does not exist (did you mean handler.http?)\n");
  CHECK(errors_of(base, {{"LANEWAY_DLQ", "x"}}) ==
        "LANEWAY_DLQ: this key does not exist (did you mean LANEWAY_DEAD_LETTER__TOPIC?)\n");
}

TEST_CASE("a key that several handlers have is suggested for the handler of the file") {
  const auto with_handler = [](const std::string& handler) {
    return errors_of(
        "kafka: { bootstrap.servers: a, group.id: g }\ntopics: [a]\ntimeout: 3s\nhandler: " + handler + "\n");
  };
  CHECK(with_handler("simulate") ==
        "f.yaml:3:1: timeout: this key does not exist (did you mean handler.simulate.timeout?)\n");
  CHECK(with_handler("{ produce: { topic: b } }") ==
        "f.yaml:3:1: timeout: this key does not exist (did you mean handler.produce.timeout?)\n");
  CHECK(with_handler("log") ==
        "f.yaml:3:1: timeout: this key does not exist (did you mean handler.http.timeout?)\n");
}

TEST_CASE("a second handler is reported at its place, with the way to replace the first") {
  CHECK(errors_of(base, {}, {"handler.exec.command=[sh]"}) ==
        "--set handler.exec.command: the handler log is set already, and a service has one handler (remove "
        "one of the two; --set handler=exec replaces the handler of the file)\n");
  CHECK(errors_of(base, {}, {"handler=exec", "handler.exec.command=[/bin/sh]"}).empty());
}
