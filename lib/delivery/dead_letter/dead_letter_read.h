// Reads what dead_letter.h writes, and what others write under the same names.
//
// Pure functions, callable from any thread; nothing throws but std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>

#include "delivery/dead_letter/dead_letter.h"

namespace laneway::delivery {

/// Reads the headers of a record of a dead-letter topic, of either family, with or without ours. Of several
/// of one name the last counts, as everywhere in Kafka. What makes no sense is as if it were not there.
/// Nothing when there is neither an origin nor a description of an error.
std::optional<DeadLetter> read_dead_letter(const Headers& headers);

/// The redrive count that the headers of a record bear; 0 when there is none, or none that makes sense.
std::uint32_t redrives_of(const Headers& headers);

}  // namespace laneway::delivery
