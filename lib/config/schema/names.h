// The dotted names of settings: which may be set, and what is said about those that may not. They come from
// the properties, the handlers and the keys of the client library. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::config {

/// Has settings below it: "", "kafka", "lanes", "handler", "handler.http".
bool is_section(std::string_view path);
/// Whether `path` names something in `section`.
bool below(std::string_view path, std::string_view section);

struct Objection {
  std::string what;
  std::string hint;
};

/// Why nothing may be set at `path`; nothing when something may.
std::optional<Objection> object_to(std::string_view path);

/// Every name that may be set, kafka's keys among them.
const std::vector<std::string>& known_names();

}  // namespace laneway::config
