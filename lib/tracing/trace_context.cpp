#include "tracing/trace_context.h"

#include <algorithm>

namespace laneway::tracing {
namespace {

// version-trace_id-span_id-flags
constexpr std::size_t trace_id_at = 3;
constexpr std::size_t span_id_at = 36;
constexpr std::size_t flags_at = 53;
constexpr std::size_t length = 55;
constexpr std::uint8_t sampled_flag = 1;

std::optional<std::uint8_t> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

template <std::size_t size>
bool read_hexadecimal(std::string_view text, std::array<std::uint8_t, size>& out) {
  for (std::size_t i = 0; i < size; ++i) {
    const auto high = digit(text[2 * i]);
    const auto low = digit(text[2 * i + 1]);
    if (!high || !low) return false;
    out[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return true;
}

template <std::size_t size>
bool all_zero(const std::array<std::uint8_t, size>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](auto byte) { return byte == 0; });
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view header) {
  if (header.size() < length || header[trace_id_at - 1] != '-' || header[span_id_at - 1] != '-' ||
      header[flags_at - 1] != '-')
    return std::nullopt;
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  TraceContext context;
  if (!read_hexadecimal(header, version) || !read_hexadecimal(header.substr(trace_id_at), context.trace_id) ||
      !read_hexadecimal(header.substr(span_id_at), context.span_id) ||
      !read_hexadecimal(header.substr(flags_at), flags))
    return std::nullopt;
  const bool longer = header.size() > length;
  if (version[0] == 0xFF || (longer && (version[0] == 0 || header[length] != '-'))) return std::nullopt;
  if (all_zero(context.trace_id) || all_zero(context.span_id)) return std::nullopt;
  context.sampled = (flags[0] & sampled_flag) != 0;
  return context;
}

std::string print_traceparent(const TraceContext& context) {
  return "00-" + print_id(context.trace_id) + '-' + print_id(context.span_id) +
         (context.sampled ? "-01" : "-00");
}

}  // namespace laneway::tracing
