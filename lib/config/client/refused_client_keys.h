// The client library's keys that laneway keeps to itself, each with the reason. Pure.
#pragma once

#include <span>
#include <string_view>

namespace laneway::config {

/// A key of the library that is refused, with the reason and what to do instead.
struct RefusedClientKey {
  std::string_view name;  ///< a trailing * stands for the rest
  std::string_view reason;
  std::string_view instead;  ///< empty: nothing
};

std::span<const RefusedClientKey> refused_client_keys();
const RefusedClientKey* find_refused_client_key(std::string_view name);

}  // namespace laneway::config
