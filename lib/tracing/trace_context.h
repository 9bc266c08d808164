// W3C Trace Context: which trace a record belongs to, as its header `traceparent` says.
// https://www.w3.org/TR/trace-context/ (level 1, and what it asks of later versions)
//
// Pure functions, callable from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace laneway::tracing {

inline constexpr std::string_view traceparent_header = "traceparent";

struct TraceContext {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> span_id{};
  bool sampled = false;

  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

/// Nothing for what the specification calls invalid: other lengths, capital letters, version ff, an id of
/// zeros. Of a later version what this one knows is read.
std::optional<TraceContext> parse_traceparent(std::string_view header);
/// In version 00.
std::string print_traceparent(const TraceContext& context);

/// In lower-case hexadecimal.
template <std::size_t size>
std::string print_id(const std::array<std::uint8_t, size>& id) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const auto byte : id) {
    out += digits[byte >> 4];
    out += digits[byte & 0xF];
  }
  return out;
}

}  // namespace laneway::tracing
