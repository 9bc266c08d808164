// The reference of all keys as a page for people: the content of docs/configuration.md. Pure.
#pragma once

#include <string>

namespace laneway::config {

/// Markdown: by section, each with an example, every key with its default, what it takes and what it does.
std::string reference_page();

}  // namespace laneway::config
