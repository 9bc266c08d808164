#include "base/utf8.h"

#include <string>
#include <vector>

#include "catch.h"

using namespace laneway;

namespace {

/// In UTF-8; for code points below U+10000.
std::string text_of(std::uint32_t point) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0 | point >> 6), byte(0x80 | (point & 0x3F))};
  return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 0x3F)), byte(0x80 | (point & 0x3F))};
}

}  // namespace

TEST_CASE("utf8: characters that control a terminal or turn the direction of text are control characters") {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges = {
      {0, 0x1F}, {0x7F, 0x9F}, {0x61C, 0x61C}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};
  for (std::uint32_t point = 0; point < 0x10000; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;  // surrogates are no characters
    const auto text = text_of(point);
    REQUIRE(utf8_sequence_length(text, 0) == text.size());
    REQUIRE(utf8_code_point(text, 0, text.size()) == point);
    bool control = false;
    for (const auto& [first, last] : ranges) control = control || (point >= first && point <= last);
    if (utf8_control(text, 0, text.size()) != control) FAIL(point);
  }
  CHECK_FALSE(utf8_control("\xf0\x9f\x98\x80", 0, 4));
}
