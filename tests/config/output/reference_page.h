// The reference of all keys as a page for people: the content of docs/configuration.md. Pure.
#pragma once

#include <string>

namespace laneway::config {

/// Markdown: by section, each with an example, every key with its default, its right values and its meaning.
std::string reference_page();

}  // namespace laneway::config
