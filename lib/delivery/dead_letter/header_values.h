// Reads values in the headers of records, which anyone may have written; only for the files of this folder. A
// value that makes no sense counts as missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "delivery/dead_letter/dead_letter.h"

namespace laneway::delivery {

/// The last header of the name, as everywhere in Kafka; nullopt if there is none or its value is null.
std::optional<std::string_view> last(const Headers& headers, std::string_view name);

/// A decimal count, from 0 to the largest value of the type.
template <class Integer>
std::optional<Integer> decimal(std::optional<std::string_view> text) {
  return text ? laneway::decimal<Integer>(*text) : std::nullopt;
}

/// A topic name that may be used in requests: empty if Kafka does not allow the name.
std::string topic_in(std::optional<std::string_view> text);

void add(Headers& headers, std::string_view name, std::string value);

}  // namespace laneway::delivery
