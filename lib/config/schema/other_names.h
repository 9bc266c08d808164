// The names that other programs give to what laneway configures: a user who tries such a name is shown the
// key that laneway has. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace laneway::config {

/// The key or the group of keys that laneway has for `path`, a dotted name that does not exist; nullopt if
/// the table does not have the name. A `-` in `path` counts as `_`, and capital letters count as small ones.
std::optional<std::string> key_for_other_name(std::string_view path);

}  // namespace laneway::config
