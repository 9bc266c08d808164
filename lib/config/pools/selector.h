// Where the text that decides about a record is found, as it is written: topic, key, header:NAME,
// value:/json/pointer, part. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "config/pools.h"

namespace laneway::config {

/// `with_part`: whether the id of a sub-job may decide. The empty text is no selector. The error's message
/// says what is wrong; it is empty for a word that is no selector.
Result<Selector> parse_selector(const std::string& text, bool with_part);
/// Empty for no selector.
std::string print_selector(const Selector& selector);

}  // namespace laneway::config
