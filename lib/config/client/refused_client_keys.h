// The client library's keys that users may not set, each with the reason. Pure.
#pragma once

#include <span>
#include <string_view>

namespace laneway::config {

/// Refused keys of the library, with the reason and the replacement.
struct RefusedClientKey {
  std::string_view names;  ///< separated by spaces; a * at an end stands for the rest
  std::string_view reason;
  std::string_view instead;  ///< empty if nothing replaces the key
};

std::span<const RefusedClientKey> refused_client_keys();
/// Nullptr if the key is not on the list.
const RefusedClientKey* find_refused_client_key(std::string_view name);

}  // namespace laneway::config
