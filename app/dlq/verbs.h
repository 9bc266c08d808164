// The verbs list and show of `laneway dlq`, on topics that are already open.
//
// Threads: one. Blocks until all letters are read (list), or one record has come (show).
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "app/cli/place.h"
#include "app/dlq/letters.h"
#include "app/dlq/options.h"
#include "base/result.h"

namespace laneway::dlq {

struct Output {
  std::ostream& out;
  std::size_t width = 0;  ///< of the terminal; 0: no terminal, so nothing is cut
};

/// Prints a table with counts at the end, or one JSON object per line. `letters`: opened with the group of
/// redrive, whose commits say which letters were sent back. `now`: ms since 1970.
Status list(Letters& letters, const Options& options, std::int64_t now, const Output& output);

/// With partition and offset; without a topic: of the only dead-letter topic.
using LetterPosition = cli::Place;
/// Accepts "orders-dlt:0:17", "orders-dlt[0]@17" and "0:17". Error: usage.
Result<LetterPosition> parse_letter_position(std::string_view text);
/// Prints everything of one letter. `letters`: as in list(). Errors: no_input if there is no such record,
/// usage if `place` does not say which of several topics.
Status show(Letters& letters, const LetterPosition& place, std::size_t max_bytes, std::int64_t now,
            std::ostream& out);

}  // namespace laneway::dlq
