// Mistakes that YAML reads without an error, as something else than the text looks like: a key without a
// colon, an item that belongs to the text above, a quote that closes lines below. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "config/yaml/document.h"

namespace laneway::config {

/// `root`: the tree that YAML makes of `text`. nullopt if there is no such mistake.
std::optional<Fault> find_silent_mistake(std::string_view text, const Node& root);

/// The text at the position is behind the end of a document, and does not begin with ---.
Fault behind_document(std::string_view text, Position at);

}  // namespace laneway::config
