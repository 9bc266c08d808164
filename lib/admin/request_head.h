// The head of a request, its lines up to the empty one, as text: enough of it to know when the request is
// whole, before httplib parses it. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace laneway::admin {

/// Where the head ends and the body begins; nothing while the empty line is not there. `searched`: bytes that
/// were searched before.
std::optional<std::size_t> end_of_head(std::string_view text, std::size_t searched);

/// Takes the fields out of the head of `text`, which ends at `end`, that httplib must not see: it reads Range
/// with a regular expression, whose recursion takes as much of the stack as a client likes, and Expect has no
/// meaning when the body is there. The new end.
std::size_t without_unread_fields(std::string& text, std::size_t end);

struct BodySize {
  enum class Kind : unsigned char { known, unknown, wrong } kind = Kind::known;
  std::size_t bytes = 0;
};
/// Of the body that follows `head`; unknown for one in chunks.
BodySize body_size(std::string_view head);

/// GET or HEAD of /livez or /readyz.
bool is_probe(std::string_view head);

}  // namespace laneway::admin
