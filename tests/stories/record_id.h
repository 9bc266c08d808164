// How the witnesses of a story recognise a record: by its value. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace laneway::stories {

/// A record by its value, which begins with "PARTITION.NUMBER.": the same in each topic that it comes to.
using Id = std::pair<std::int32_t, std::int32_t>;
std::string value_of(Id id, int bytes);
std::optional<Id> id_of(std::string_view value);
/// The same records of each load are poison.
bool is_poison(Id id, int per_mille);

}  // namespace laneway::stories
