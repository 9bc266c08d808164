// Why the YAML library could not read a text, in words for people who write configuration files: a tab, an
// indentation that fits no group, a missing space after a colon, a bracket or a quote that is not closed, a
// comma that is missing, text behind a value, a value that needs quotes.
//
// The library reports the place where it gave up, which is often the line after the mistake. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/yaml/document.h"

namespace laneway::config {

/// `at` and `message`: what the library reports about `text`. Without a better explanation, its message.
Fault explain_syntax(std::string_view text, Position at, const std::string& message);

/// The first quote or bracket in `text` that is not closed; nullopt if all are closed.
std::optional<Fault> find_not_closed(std::string_view text);

/// The message for the quote or bracket at `offset`.
Fault not_closed(std::string_view text, std::size_t offset);

/// The length of KEY in "KEY:value", where YAML needs a space after the colon; nullopt for any other text.
std::optional<std::size_t> key_without_space(std::string_view text);

}  // namespace laneway::config
