// W3C Trace Context: the trace that a record belongs to, according to its header `traceparent`.
// https://www.w3.org/TR/trace-context/ (level 1, with its rules for later versions)
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

/// nullopt for a header that the specification calls invalid: a wrong length, capital letters, version ff, or
/// an id of zeros. Of a later version, the known fields are read.
std::optional<TraceContext> parse_traceparent(std::string_view header);
/// Prints version 00.
std::string print_traceparent(const TraceContext& context);

/// Prints an id in lower-case hexadecimal.
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
