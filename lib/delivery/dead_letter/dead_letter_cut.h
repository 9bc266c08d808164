// How a dead letter that is larger than its topic takes is cut: something of it is kept, and what is missing
// is said.
//
// The rule, in this order, each only as far as needed:
//   1. the end of the value goes; header laneway-truncated: bytes that the value had;
//   2. with no value left, the record's own headers go, the largest first (of equals the later one), which
//      makes room for the value's beginning again; header laneway-dropped-headers: how many. The headers that
//      describe the dead letter stay;
//   3. with no value and no headers left, the end of the key goes; header laneway-key-truncated: bytes that
//      it had.
// A record that was cut is not sent back by a redrive: whoever wants it whole finds it by its origin.
//
// Pure function, callable from any thread; nothing throws but std::bad_alloc.
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

/// Bytes that a record takes in a request, at most: key, value, headers and Kafka's own lengths.
std::size_t record_bytes(std::optional<std::string_view> key, std::optional<std::string_view> value,
                         const Headers& headers);

/// No limit is smaller: the description and the three headers of this file always fit.
constexpr std::size_t least_record_limit = max_description_bytes + 1024;

/// The content, cut so that record_bytes() is at most max_bytes (or least_record_limit, if that is more). One
/// that fits stays as it is. One that was cut before goes on saying what it had at first.
DeadLetterContent cut_to_fit(DeadLetterContent content, std::size_t max_bytes);

}  // namespace laneway::delivery
