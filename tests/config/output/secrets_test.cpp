#include "catch.h"
#include "config/loaded.h"

using namespace laneway::config;

TEST_CASE("no error shows the content of a malformed variable") {
  const std::string canary = "c4n4ry";
  const std::string produce =
      "kafka: { bootstrap.servers: a, group.id: g }\ntopics: [orders]\nhandler: { produce: { topic: out } "
      "}\n";
  const std::string http =
      base.substr(0, base.find("handler:")) + "handler: { http: { url: \"http://h/\" } }\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"LANEWAY_HANDLER__PRODUCE__KAFKA", "{sasl.password: " + canary},
      {"LANEWAY_HANDLER__PRODUCE__KAFKA", "{sasl.password: *" + canary + "}"},
      {"LANEWAY_HANDLER__PRODUCE__KAFKA", "sasl.password=" + canary},
      {"LANEWAY_HANDLER__PRODUCE__KAFKA", "{sasl.password=" + canary + "}"},
      {"LANEWAY_HANDLER__PRODUCE__KAFKA", "{" + canary + ": {a: b}}"},
      {"LANEWAY_HANDLER__PRODUCE__KAFKA", "{linger.ms: " + canary + "}"},
      {"LANEWAY_HANDLER__PRODUCE__KAFKA", "{sasl.password_file: " + canary + "}"},
      {"LANEWAY_HANDLER__PRODUCE", "{kafka: {sasl.password: " + canary + "}}"},
      {"LANEWAY_HANDLER", "produce: " + canary},
      {"LANEWAY_KAFKA__SASL_PASSWORD_FILE", canary},
      {"LANEWAY_ADMIN__TOKEN_FILE", canary}};
  for (const auto& [name, value] : cases) {
    const auto shown = errors_of(produce, {{name, value}});
    CHECK(shown.find(name) != shown.npos);
    CHECK(shown.find(canary) == shown.npos);
  }
  const auto shown = errors_of(http, {{"LANEWAY_HANDLER__HTTP__AUTHORIZATION_FILE", canary}});
  CHECK(shown.find("AUTHORIZATION_FILE") != shown.npos);
  CHECK(shown.find(canary) == shown.npos);
  CHECK(errors_of(base, {{"LANEWAY_LANES__WORKERS", "many"}}).find("found \"many\"") != std::string::npos);
}

TEST_CASE("a secret among a producer's client keys is refused on the command line") {
  const std::string produce =
      "kafka: { bootstrap.servers: a, group.id: g, security.protocol: sasl_ssl, sasl.mechanism: PLAIN, "
      "sasl.username: u, sasl.password: p }\ntopics: [orders]\nhandler: { produce: { topic: out } }\n";
  const std::string own = "{sasl.password: c4n4ry}";
  CHECK(errors_of(produce, {}, {"handler.produce.kafka=" + own}) ==
        "--set handler.produce.kafka: every user of the machine can see a secret on the command line (use "
        "the key with _file, or the variable LANEWAY_HANDLER__PRODUCE__KAFKA)\n");
  CHECK(errors_of(produce, {{"LANEWAY_HANDLER__PRODUCE__KAFKA", own}}).empty());
}
