#include "base/outside_json.h"

#include <string>

#include "catch.h"

using namespace laneway;

namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

bool readable(const std::string& text) { return !parse_outside_json(text).is_discarded(); }

}  // namespace

TEST_CASE("JSON is read up to the allowed depth, and refused beyond it") {
  CHECK(readable(nested(deepest_json)));
  CHECK_FALSE(readable(nested(deepest_json + 1)));
  CHECK_FALSE(readable(nested(1'000'000)));
  CHECK_FALSE(readable(std::string(1'000'000, '[')));
  CHECK_FALSE(readable("[1,"));
}

TEST_CASE("brackets count only where they nest, not side by side or inside texts") {
  std::string wide = "[";
  for (std::size_t i = 0; i < 2 * deepest_json; ++i) wide += "[{}],";
  CHECK(readable(wide + "1]"));
  CHECK(readable("[\"" + std::string(1'000'000, '[') + "\"]"));
  CHECK(readable("[\"\\\"" + std::string(1000, '[') + "\"]"));
  CHECK(readable("[\"\\\\\"," + nested(deepest_json - 1) + "]"));
  CHECK_FALSE(readable("[\"\\\\\"," + nested(deepest_json) + "]"));
}
