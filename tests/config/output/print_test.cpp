#include "config/output/print.h"

#include <algorithm>

#include "catch.h"
#include "config/client/client_keys.h"
#include "config/loaded.h"
#include "config/output/reference_page.h"
#include "config/schema/names.h"
#include "config/schema/schema.h"
#include "folders.h"

using namespace laneway;
using namespace laneway::config;

namespace {
const std::string page_path = source_folder() + "/docs/configuration.md";
}

TEST_CASE("full.yaml names every key with its default", "[reference]") {
  CHECK(content_of(example_path("full.yaml")) == reference());
}

TEST_CASE("docs/configuration.md has every key", "[reference]") {
  INFO("stale; test_config \"[write-reference]\" writes it anew");
  CHECK(content_of(page_path) == reference_page());
}

TEST_CASE("write config/full.yaml and docs/configuration.md", "[.][write-reference]") {
  std::ofstream(example_path("full.yaml")) << reference();
  CHECK(content_of(example_path("full.yaml")) == reference());
  std::ofstream(page_path) << reference_page();
  CHECK(content_of(page_path) == reference_page());
}

TEST_CASE("each example of the page is valid, and each section has an example") {
  const auto page = reference_page();
  std::size_t examples = 0;
  for (auto begin = page.find("```yaml\n"); begin != page.npos; begin = page.find("```yaml\n", begin)) {
    begin += 8;
    std::string text = page.substr(begin, page.find("```", begin) - begin);
    for (const char* part : {"kafka:\n  bootstrap.servers: b\n  group.id: g\n", "topics: [orders]\n",
                             "handler: { log: {} }\n"}) {
      const std::string section = std::string(part).substr(0, std::string(part).find(':') + 1);
      if (("\n" + text).find("\n" + section) == text.npos) text += part;
    }
    INFO(text);
    CHECK(report(loaded_without_programs(text).errors) == "");
    ++examples;
  }
  std::size_t sections = 0;
  for (auto at = page.find("\n## "); at != page.npos; at = page.find("\n## ", at + 1)) ++sections;
  INFO(
      "a new section wants a text and an example: in tests/config/output/reference_page.cpp, or in its "
      "handler's file");
  CHECK(examples == sections - 1);  // environment variables have a table
}

TEST_CASE("the reference has a line for each key, in force or commented out") {
  const auto text = reference();
  for (const std::string& name : known_names()) {
    if (is_section(name) || name.ends_with("_file")) continue;
    const auto word = name.starts_with("kafka.") ? name.substr(6) : name.substr(name.rfind('.') + 1);
    INFO(name);
    const auto names_it = [&](char before) { return text.find(before + word + ":") != text.npos; };
    const bool named = names_it(' ') || names_it('\n');
    CHECK(named);
  }
}

TEST_CASE("reading the reference gives the defaults") {
  Config defaults;
  defaults.topics = {"orders"};
  defaults.handler = HttpSettings{};
  std::get<HttpSettings>(defaults.handler).url = "http://127.0.0.1:8080/orders";
  const auto result = loaded(reference());
  REQUIRE(report(result.errors) == "");
  defaults.kafka = result.config->kafka;
  CHECK(print(*result.config) == print(defaults));
}

TEST_CASE("the commented-out lines of the reference are keys in their groups") {
  std::istringstream lines(reference());
  std::string text;
  for (std::string line; std::getline(lines, line); text += line + "\n") {
    const auto words = line.substr(0, line.find(' ', 4));
    if (words.starts_with("  # ") && !words.starts_with("  # `") &&
        (words.ends_with(":") || line.starts_with("  #   ")))
      line.erase(2, 2);
  }
  for (const Error& error : loaded_without_programs(text).errors) {
    INFO(error.text());
    const bool expected = error.message.ends_with("found no value") ||
                          error.message.find("is set already") != error.message.npos;
    CHECK(expected);
  }
}

TEST_CASE("a printed configuration reads back unchanged") {
  for (const char* name :
       {"log.yaml", "http.yaml", "simulate.yaml", "full.yaml", "plugin.yaml", "produce.yaml",
        "examples/exec/python.yaml", "examples/exec/binary.yaml", "examples/exec/shell.yaml"}) {
    INFO(name);
    const auto first =
        load({example_path(name), {"lanes.drain=12345us", "journal.file=a \"b\" ${c}\n", "topics=null"}, {}});
    REQUIRE(report(first.errors) == "");
    const auto second = loaded(print(*first.config));
    REQUIRE(report(second.errors) == "");
    CHECK(second.config->journal.file == "a \"b\" ${c}\n");
    CHECK(print(*second.config) == print(*first.config));
  }
}

TEST_CASE("a printed configuration hides passwords, keys and secrets in URLs") {
  const auto result = loaded(
      "topics: [a]\n"
      "kafka:\n  bootstrap.servers: b\n  group.id: g\n  security.protocol: sasl_ssl\n  sasl.mechanism: "
      "PLAIN\n"
      "  sasl.username: me\n  sasl.password: canary\n  ssl.key.password: canary\n  ssl.key.pem: canary\n"
      "handler: { http: { url: \"https://canary:canary@h:1/p?token=canary\" } }\n");
  REQUIRE(report(result.errors) == "");
  const auto text = print(*result.config);
  CHECK(text.find("canary") == text.npos);
  CHECK(text.find("  sasl.password: \"*****\"\n") != text.npos);
  CHECK(text.find("    url: \"https://*****@h:1/p?*****\"\n") != text.npos);
  CHECK(text.find("  sasl.username: me\n") != text.npos);
}

TEST_CASE("keys that hold secrets are marked as secret") {
  for (const ClientKey& key : client_keys()) {
    const bool tells = key.name.ends_with("password") || key.name.ends_with("secret") ||
                       key.name == "ssl.key.pem" || key.name == "sasl.oauthbearer.config";
    INFO(key.name);
    CHECK(key.secret == tells);
  }
}
