// The loader against texts that nobody wrote: each gives errors or a Config, and nothing else happens.
#include <rapidcheck.h>

#include "catch.h"
#include "config/loaded.h"
#include "config/output/print.h"

using namespace laneway::config;

namespace {

void must_be_errors_or_a_config(const std::string& text) {
  const auto result = loaded(text, {{"A", "b"}});
  RC_ASSERT(result.config.has_value() == result.errors.empty());
  if (result.config) RC_ASSERT(report(loaded(print(*result.config)).errors) == "");
}

/// Changes, removes, repeats or inserts bytes, most of them such as mean something to YAML.
std::string mutated(std::string text) {
  static const std::string telling = "{}[]:,\"'#&*!|>-?%@`~$\n\t 0a";
  const auto changes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < changes && !text.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto length = std::min<std::size_t>(*rc::gen::inRange<std::size_t>(1, 40), text.size() - at);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        text[at] = telling[*rc::gen::inRange<std::size_t>(0, telling.size())];
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(*rc::gen::inRange<std::size_t>(0, text.size()), text.substr(at, length));
        break;
      default:
        text.insert(at, 1, static_cast<char>(*rc::gen::inRange(0, 256)));
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a mutated example gives an error or a valid Config") {
  for (const char* name : {"log.yaml", "http.yaml", "simulate.yaml", "full.yaml", "plugin.yaml",
                           "produce.yaml", "examples/exec/binary.yaml"}) {
    const auto text = content_of(example_path(name));
    REQUIRE_FALSE(text.empty());
    REQUIRE(rc::check(name, [&] {
      for (int i = 0; i < 5; ++i) must_be_errors_or_a_config(mutated(text));
    }));
  }
}

TEST_CASE("any bytes give an error or a valid Config") {
  REQUIRE(rc::check([](const std::string& text) { must_be_errors_or_a_config(text); }));
}

TEST_CASE("any --set and any variable give an error or a valid Config") {
  REQUIRE(rc::check([](const std::string& name, const std::string& value) {
    for (const std::string& set :
         {name + "=" + value, "topics=[" + value, "handler.simulate.sleep={" + value}) {
      const auto result =
          loaded(base, {{"LANEWAY_" + name, value}, {"LANEWAY_KAFKA__" + name, value}}, {set});
      RC_ASSERT(result.config.has_value() == result.errors.empty());
    }
  }));
}
