#include "delivery/dead_letter/dead_letter_names.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace laneway::delivery {
namespace {

constexpr std::array<std::string_view, dead_letter_reasons> reason_names{
    "unknown", "rejected", "attempts_exhausted", "retry_time_over", "too_old", "window_full",
    "crashed", "skipped"};

/// The names that Java's TimestampType prints.
constexpr std::array<std::string_view, 3> timestamp_type_names{"NoTimestampType", "CreateTime",
                                                               "LogAppendTime"};

static_assert(!reason_names.back().empty() && !timestamp_type_names.back().empty(), "a name for each");

template <class Value, std::size_t size>
Value value_of(const std::array<std::string_view, size>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? Value{} : static_cast<Value>(found - names.begin());
}

}  // namespace

std::string_view name(DeadLetterReason reason) { return reason_names[static_cast<std::size_t>(reason)]; }
std::string_view name(TimestampType type) { return timestamp_type_names[static_cast<std::size_t>(type)]; }
DeadLetterReason reason_named(std::string_view name) {
  return value_of<DeadLetterReason>(reason_names, name);
}
TimestampType timestamp_type_named(std::string_view name) {
  return value_of<TimestampType>(timestamp_type_names, name);
}

}  // namespace laneway::delivery
