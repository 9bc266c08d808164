#include "config/units.h"

#include <charconv>
#include <limits>
#include <span>

#include "config/text.h"

namespace laneway::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// From the largest to the smallest: printing tries them in this order.
constexpr Unit duration_units[] = {{"h", 3'600'000'000'000}, {"m", 60'000'000'000}, {"s", 1'000'000'000},
                                   {"ms", 1'000'000},        {"us", 1'000},         {"ns", 1}};
constexpr Unit size_units[] = {
    {"TiB", 1ULL << 40}, {"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}, {"B", 1}};

constexpr const char* duration_hint = "a whole number with ns, us, ms, s, m or h, such as 500ms, 2s or 1m";
constexpr const char* size_hint = "a whole number with B, KiB, MiB, GiB or TiB, such as 64KiB or 1MiB";

Result<std::uint64_t> parse(std::string_view text, std::span<const Unit> units, std::uint64_t limit,
                            const char* hint) {
  if (text.empty()) return wrong_value("it is empty", hint);
  if (text.front() == '-') return wrong_value("it is negative", hint);
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure == std::errc::result_out_of_range) return wrong_value("it is too large", hint);
  if (failure != std::errc{}) return wrong_value("it does not start with a number", hint);
  const std::string_view name(rest, static_cast<std::size_t>(end - rest));
  if (name.empty()) return wrong_value("it has no unit", hint);
  if (name.front() == '.') return wrong_value("it is not a whole number", hint);
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (number > limit / unit.factor) return wrong_value("it is too large", hint);
    return number * unit.factor;
  }
  return wrong_value("it has an unknown unit", hint);
}

std::string print(std::uint64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (value != 0 && value % unit.factor == 0)
      return std::to_string(value / unit.factor) + std::string(unit.name);
  return "0";
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto value = parse(text, duration_units, limit, duration_hint);
  if (!value) return value.error();
  return duration_cast<Duration>(nanoseconds(static_cast<std::int64_t>(*value)));
}

Result<std::uint64_t> parse_size(std::string_view text) {
  return parse(text, size_units, std::numeric_limits<std::uint64_t>::max(), size_hint);
}

std::string print_duration(Duration duration) {
  const auto count = duration_cast<nanoseconds>(duration).count();
  return count == 0 ? "0s" : print(static_cast<std::uint64_t>(count), duration_units);
}

std::string print_size(std::uint64_t bytes) { return bytes == 0 ? "0B" : print(bytes, size_units); }

}  // namespace laneway::config
