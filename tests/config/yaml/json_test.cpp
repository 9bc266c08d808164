#include "config/yaml/json.h"

#include "catch.h"
#include "config/loaded.h"

using namespace laneway::config;

namespace {

const std::string plugin =
    "kafka:\n  bootstrap.servers: 127.0.0.1:9092\n  group.id: orders\ntopics: [orders]\nhandler:\n  "
    "plugin:\n    library: /p.so\n    config:\n";

PluginSettings plugin_of(const std::string& config, std::map<std::string, std::string> environment = {},
                         std::vector<std::string> sets = {}) {
  const auto result = loaded(plugin + config, std::move(environment), std::move(sets));
  REQUIRE(report(result.errors) == "");
  return std::get<PluginSettings>(result.config->handler);
}

std::string json(const std::string& yaml) { return json_of(parse_document(yaml).root); }

}  // namespace

TEST_CASE("a section of any form becomes JSON") {
  CHECK(json("{a: [1, two, \"3\"], b: {c: }, d.e: x}") ==
        R"({"a": [1, "two", "3"], "b": {"c": null}, "d.e": "x"})");
  CHECK(json("{}") == "{}");
  CHECK(json("[]") == "[]");
  CHECK(json("~") == "null");
}

TEST_CASE("plain numbers and booleans keep their type, and other values become text") {
  for (const char* itself : {"0", "-1", "1.5", "1e9", "-0.5E-3", "true", "false", "null"})
    CHECK(json(itself) == itself);
  for (const char* text : {"01", "1.", ".5", "+1", "1e", "0x10", "1_000", "yes", "True", "1 2"})
    CHECK(json(text) == "\"" + std::string(text) + "\"");
  CHECK(json("\"1\"") == "\"1\"");
  CHECK(json("'true'") == "\"true\"");
}

TEST_CASE("text is escaped by the rules of JSON") {
  CHECK(json(R"("a\"b\\c\n\x01é")") == "\"a\\\"b\\\\c\\u000a\\u0001é\"");
}

TEST_CASE("a plugin's section is passed on whole, with its variables replaced") {
  const auto read = plugin_of("      url: ${URL}\n      lanes.workers: 3\n      nested: { deep: [on, 1] }\n",
                              {{"URL", "db://canary"}});
  CHECK(read.config == R"({"url": "db://canary", "lanes.workers": 3, "nested": {"deep": ["on", 1]}})");
  CHECK(plugin_of("").config == "{}");
}

TEST_CASE("a plugin's section can be replaced from outside the file") {
  CHECK(plugin_of("      a: 1\n", {}, {"handler.plugin.config={b: 2}"}).config == R"({"b": 2})");
  CHECK(errors_of(plugin + "      a: 1\n", {}, {"handler.plugin.config.a=2"}).find("does not exist") !=
        std::string::npos);
}

TEST_CASE("the printed section of a plugin shows no text, only names of variables") {
  CHECK(plugin_of("      url: \"${URL}\"\n      password: canary\n      size: 3\n", {{"URL", "canary"}})
            .shown_config == R"({"url": "${URL}", "password": "*****", "size": 3})");
}

TEST_CASE("a plugin needs a library with an absolute path") {
  const std::string start = plugin.substr(0, plugin.find("    library"));
  CHECK(errors_of(start + "    timeout: 5s\n") ==
        "f.yaml:7:14: handler.plugin.library: this key is missing (the absolute path of the plugin's shared "
        "library)\n");
  CHECK(errors_of(start + "    library: p.so\n") ==
        "f.yaml:7:14: handler.plugin.library: found \"p.so\", which does not begin with a / (expected an "
        "absolute path)\n");
  CHECK(errors_of(start + "    library: /p.so\n    config: 5\n")
            .find("expected a map with keys of the plugin's own") != std::string::npos);
}
