// What YAML cannot read, named by its cause and at its own place.
#include "config/yaml/layout.h"

#include "catch.h"
#include "config/loaded.h"

using namespace laneway::config;

TEST_CASE("a tab is reported with its place") {
  const std::string tab = "this line is indented with a tab (indent with spaces: YAML allows no tabs)\n";
  CHECK(errors_of(base + "lanes:\n\tworkers: 3\n") == "f.yaml:8:1: " + tab);
  CHECK(errors_of(base + "lanes:\n  workers: 3\n\tqueue: 3\n") == "f.yaml:9:1: " + tab);
  CHECK(errors_of(base + "lanes:\n  \tworkers: 3\n") == "f.yaml:8:3: " + tab);
  CHECK(errors_of(base + "lanes:\n  workers:\t3\n\n").empty());
}

TEST_CASE("an indentation that fits no group is reported with the line that it should match") {
  CHECK(
      errors_of(base + "lanes:\n  workers: 3\n\n  # a comment\n   queue: 5\n") ==
      "f.yaml:11:4: this line is indented by 3 spaces, line 8 above by 2 spaces (keys of one group need the "
      "same indentation)\n");
  CHECK(errors_of(base + "journal:\n  file: \"/j\" # it's one\n    sync: true\n") ==
        "f.yaml:9:5: this line is indented by 4 spaces, line 8 above by 2 spaces (keys of one group need the "
        "same indentation)\n");
  CHECK(errors_of("topics: [a]\n  handler: log\n") ==
        "f.yaml:2:3: this line is indented by 2 spaces, line 1 above by 0 spaces (keys of one group need the "
        "same indentation)\n");
  CHECK(errors_of(base + "lanes:\n  workers: 3\n queue: 5\n") ==
        "f.yaml:9:2: this line is indented by 1 space, which fits no group above (the lines above are "
        "indented by "
        "0 or 2 spaces)\n");
  CHECK(errors_of(base + "lanes:\nworkers: 3\n") ==
        "f.yaml:8:1: workers: this key does not exist (indent it to put it into lanes, line 7)\n");
  CHECK(errors_of(base + "lanes:\nconsumers: 3\n").empty());
}

TEST_CASE("a missing space after a colon is reported with its place, however YAML reads the line") {
  const std::string missing = "the space after the colon is missing";
  const std::string http =
      base.substr(0, base.find("  log")) + "  http:\n    url: \"http://h\"\n    timeout:10s\n";
  CHECK(errors_of(http) ==
        "f.yaml:8:13: handler.http.timeout: " + missing + " (write a space after timeout:)\n");
  CHECK(errors_of(base + "lanes:\n  workers:16\n") ==
        "f.yaml:8:11: lanes.workers: " + missing + " (write a space after workers:)\n");
  CHECK(errors_of(base + "lanes:\n  workers:16\n  queue: 3\n") ==
        "f.yaml:8:11: " + missing + " (write a space after workers:)\n");
  CHECK(errors_of(base + "lanes: { workers:16 }\n") ==
        "f.yaml:7:18: lanes.workers: " + missing + " (write a space after workers:)\n");
  CHECK(errors_of(base + "consumers:2\n") ==
        "f.yaml:7:11: consumers: " + missing + " (write a space after consumers:)\n");
  CHECK(errors_of(base + "journal: { file: \"/a:b\" }\nlanes: { workers: 3 }\n").empty());
}

TEST_CASE("the error for a missing space shows no secret") {
  const auto shown = errors_of("kafka:\n  sasl.password:canary\n  group.id: g\ntopics: [a]\nhandler: log\n");
  CHECK(shown.find(":2:17: the space after the colon is missing") != shown.npos);
  CHECK(shown.find("canary") == shown.npos);
}

TEST_CASE("an unclosed bracket or quote is reported where it opens") {
  CHECK(errors_of("topics: [orders\nhandler: log\n") ==
        "f.yaml:1:9: this [ is not closed (add the ] that is missing)\n");
  CHECK(errors_of(base + "journal: { file: \"abc }\n") ==
        "f.yaml:7:18: this \" is not closed (add the \" that is missing)\n");
  CHECK(errors_of("# it's [fine\nlanes: { rate: { records: 3 }\n") ==
        "f.yaml:2:8: this { is not closed (add the } that is missing)\n");
}

TEST_CASE("a value that needs quotes is reported") {
  CHECK(errors_of(base + "log: { level: @x }\n") ==
        "f.yaml:7:15: a value cannot begin with \"@\" (put the value in quotes)\n");
  CHECK(errors_of("kafka:\n  group.id: a: b\n") ==
        "f.yaml:2:14: a second colon with a space follows in the same line (put the value in quotes, or "
        "begin a "
        "new line for each key)\n");
}

TEST_CASE("a text of several lines and a key without a value are not mistakes") {
  for (const char* more :
       {"log:\n", "log: {}\nlanes:\n  workers: 3\nadmin:\n", "\"log\" : { level: info }\n",
        "journal: { file: \"/a\n  b\" }\n", "journal:\n  file: >-\n    /a:\n    - b\n     - c\n",
        "journal: { file: '/it''s: - x' }\n", "dead_letter: { topic: \"{topic}-dlt\" }\n",
        "lanes: {\n  workers: 3,\n  queue: 5 }\n"}) {
    INFO(more);
    CHECK(errors_of(base + more) == "");
  }
  CHECK(errors_of(base.substr(0, base.find("topics")) + "topics:\n- a\n- b # - c\n\n-   c\nhandler: log\n") ==
        "");
}

TEST_CASE("an unclosed list outside the file is reported with the right form") {
  CHECK(errors_of(base, {}, {"topics=[orders"}) ==
        "--set topics: found \"[orders\": this [ is not closed (expected a list of topic names, or one "
        "pattern that starts with ^; write --set topics='[a, b]')\n");
}
