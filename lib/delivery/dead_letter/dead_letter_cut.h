// Cuts a dead letter that is larger than its topic accepts: keeps part of it, and headers report what is
// missing.
//
// The rule, in this order, each step only as far as needed:
//   1. The end of the value is cut; header laneway-truncated: bytes that the value had.
//   2. With no value left, the record's own headers are dropped, the largest first (of equals the later one),
//      which makes room for the beginning of the value again; header laneway-dropped-headers: their number.
//      The headers that describe the dead letter stay.
//   3. With no value and no headers left, the end of the key is cut; header laneway-key-truncated: bytes that
//      the key had.
// A redrive does not send back a record that was cut; the whole record can be found by its origin.
//
// Pure function, callable from any thread; throws nothing except std::bad_alloc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "delivery/dead_letter/dead_letter.h"

namespace laneway::delivery {

struct DeadLetterContent {
  std::optional<std::string> key;
  std::optional<std::string> value;
  Headers headers;  ///< As dead_letter_headers() made them.

  friend bool operator==(const DeadLetterContent&, const DeadLetterContent&) = default;
};

/// The most bytes that a record takes in a request: key, value, headers and Kafka's own lengths.
std::size_t record_bytes(std::optional<std::string_view> key, std::optional<std::string_view> value,
                         const Headers& headers);

/// The lower bound of a limit: the description and the three headers of this file always fit.
constexpr std::size_t least_record_limit = max_description_bytes + 1024;

/// The content, cut so that record_bytes() is at most max_bytes (or least_record_limit, if that is more).
/// Content that fits is unchanged. Content that was cut before keeps the headers about its first size.
DeadLetterContent cut_to_fit(DeadLetterContent content, std::size_t max_bytes);

}  // namespace laneway::delivery
