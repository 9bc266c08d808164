// A topic, a partition or a record in the notation of the command line: `orders`, `orders:2`, `orders:2:40`.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace laneway::cli {

struct Place {
  std::string topic;
  std::optional<std::int32_t> partition;  ///< nullopt: the whole topic
  std::optional<std::int64_t> offset;     ///< nullopt: the whole partition
};

/// Also accepts the notation of other tools, `orders[2]` and `orders[2]@40`. Returns nullopt if `text` is not
/// a place, if Kafka does not allow the name of the topic, or if a number is negative or too large.
std::optional<Place> parse_place(std::string_view text);

/// The inverse of parse_place(), in laneway's own notation.
std::string text_of(const Place& place);

}  // namespace laneway::cli
