#include "delivery/dead_letter/dead_letter_names.h"

#include <array>
#include <cstddef>
#include <utility>

namespace laneway::delivery {
namespace {

constexpr std::array<std::pair<DeadLetterReason, std::string_view>, dead_letter_reasons> reason_names{{
    {DeadLetterReason::unknown, "unknown"},
    {DeadLetterReason::rejected, "rejected"},
    {DeadLetterReason::attempts_exhausted, "attempts_exhausted"},
    {DeadLetterReason::retry_time_over, "retry_time_over"},
    {DeadLetterReason::too_old, "too_old"},
    {DeadLetterReason::window_full, "window_full"},
    {DeadLetterReason::crashed, "crashed"},
    {DeadLetterReason::skipped, "skipped"},
}};

/// The names that Java's TimestampType prints.
constexpr std::array<std::pair<TimestampType, std::string_view>, 3> timestamp_type_names{{
    {TimestampType::none, "NoTimestampType"},
    {TimestampType::create_time, "CreateTime"},
    {TimestampType::log_append_time, "LogAppendTime"},
}};

template <class Value, std::size_t size>
std::string_view name_in(const std::array<std::pair<Value, std::string_view>, size>& table, Value value) {
  for (const auto& [of, text] : table)
    if (of == value) return text;
  return table.front().second;
}

template <class Value, std::size_t size>
Value value_in(const std::array<std::pair<Value, std::string_view>, size>& table, std::string_view text) {
  for (const auto& [value, of] : table)
    if (of == text) return value;
  return table.front().first;
}

/// Each value has its row, and so its name.
template <class Value, std::size_t size>
constexpr bool in_order(const std::array<std::pair<Value, std::string_view>, size>& table) {
  for (std::size_t i = 0; i < size; ++i)
    if (static_cast<std::size_t>(table[i].first) != i) return false;
  return true;
}
static_assert(in_order(reason_names));
static_assert(in_order(timestamp_type_names));

}  // namespace

std::string_view name(DeadLetterReason reason) { return name_in(reason_names, reason); }
std::string_view name(TimestampType type) { return name_in(timestamp_type_names, type); }
DeadLetterReason reason_named(std::string_view name) { return value_in(reason_names, name); }
TimestampType timestamp_type_named(std::string_view name) { return value_in(timestamp_type_names, name); }

}  // namespace laneway::delivery
