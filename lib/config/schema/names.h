// The dotted names of settings: which names may be set, and the messages about names that may not. The names
// come from the properties, the handlers and the keys of the client library. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::config {

/// Whether `path` is a group of settings: "", "kafka", "lanes", "handler", "handler.http".
bool is_section(std::string_view path);
/// Whether `path` names something in `section`.
bool below(std::string_view path, std::string_view section);

struct Objection {
  std::string what;
  std::string hint;
  std::string meant{};  ///< the key that the user probably means; empty if no key is near
};

/// Objection::what for a name that does not exist.
inline constexpr const char* unknown_key = "this key does not exist";

/// Why `path` may not be set; nullopt if it may.
std::optional<Objection> object_to(std::string_view path);

/// Every name that may be set, including the keys of kafka.
const std::vector<std::string>& known_names();

}  // namespace laneway::config
