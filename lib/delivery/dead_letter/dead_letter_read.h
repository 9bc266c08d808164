// Reads the headers that dead_letter.h writes, and those that other programs write under the same names.
//
// Pure functions, callable from any thread; they throw nothing except std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>

#include "delivery/dead_letter/dead_letter.h"

namespace laneway::delivery {

/// Reads the headers of a record of a dead-letter topic, of either family, with or without laneway's own. If
/// a name occurs several times, the last header counts, as everywhere in Kafka. A value that makes no sense
/// counts as missing. nullopt if there is neither an origin nor a description of an error.
std::optional<DeadLetter> read_dead_letter(const Headers& headers);

/// The redrive count in the headers of a record; 0 if there is none, or none that makes sense.
std::uint32_t redrives_of(const Headers& headers);

}  // namespace laneway::delivery
