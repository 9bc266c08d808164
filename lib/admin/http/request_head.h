// The head of a request (its lines up to the empty line) as text, to determine when the request is complete,
// before httplib parses it. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace laneway::admin {

/// The end of the head and start of the body; nullopt if the empty line is missing. `searched`: number of
/// bytes that were searched before.
std::optional<std::size_t> end_of_head(std::string_view text, std::size_t searched);

/// Removes the fields that httplib must not see from the head of `text`, which ends at `end`: httplib reads
/// Range with a regular expression, whose recursion uses as much stack as a client likes, and Expect has no
/// meaning once the body is there. Returns the new end.
std::size_t without_unread_fields(std::string& text, std::size_t end);

struct BodySize {
  enum class Kind : unsigned char { known, unknown, wrong } kind = Kind::known;
  std::size_t bytes = 0;
};
/// The size of the body that follows `head`; unknown for a chunked body.
BodySize body_size(std::string_view head);

/// GET or HEAD of /livez or /readyz.
bool is_probe(std::string_view head);

}  // namespace laneway::admin
