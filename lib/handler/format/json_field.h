// Reads a text or a number at a place in a JSON document (base/outside_json.h).
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace laneway::handler {

/// The string at `pointer` (RFC 6901, valid); nullopt if `document` is not JSON or has no string there.
std::optional<std::string> text_at(std::string_view document, const std::string& pointer);
/// The string at `pointer`, or the digits of a whole number of up to 64 bits.
std::optional<std::string> text_or_number_at(std::string_view document, const std::string& pointer);

}  // namespace laneway::handler
