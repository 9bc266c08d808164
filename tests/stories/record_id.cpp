#include "stories/record_id.h"

#include <algorithm>
#include <charconv>

namespace laneway::stories {

std::string value_of(Id id, int bytes) {
  auto value = std::to_string(id.first) + '.' + std::to_string(id.second) + '.';
  value.resize(std::max(value.size(), static_cast<std::size_t>(bytes)), 'x');
  return value;
}

std::optional<Id> id_of(std::string_view value) {
  Id id;
  const auto first = std::from_chars(value.data(), value.data() + value.size(), id.first);
  if (first.ec != std::errc() || first.ptr == value.data() + value.size() || *first.ptr != '.') return {};
  const auto second = std::from_chars(first.ptr + 1, value.data() + value.size(), id.second);
  if (second.ec != std::errc()) return {};
  return id;
}

bool is_poison(Id id, int per_mille) {
  const auto hash = (static_cast<std::uint64_t>(id.second) * 1000003 + static_cast<std::uint64_t>(id.first)) *
                    0x9E3779B97F4A7C15ULL;
  return static_cast<int>((hash >> 33) % 1000) < per_mille;
}

}  // namespace laneway::stories
