// The three verbs of `laneway dlq`, on topics that are open already. What they have to say goes to `out`.
//
// Threads: one. Blocking: until all is read (list, redrive), or until one record has come.
#pragma once

#include <atomic>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "app/dlq/letters.h"
#include "app/dlq/options.h"
#include "base/result.h"

namespace laneway::dlq {

/// A table, or a JSON object a line; counts at the end of the table. `now` in ms since 1970.
Status list(Letters& letters, const Options& options, std::int64_t now, std::ostream& out);

struct LetterPosition {
  std::string topic;  ///< empty: the only one
  std::int32_t partition = 0;
  std::int64_t offset = 0;
};
Result<LetterPosition> parse_letter_position(std::string_view text);
/// No such record: no_input; letters of several topics: usage.
Status show(Letters& letters, const LetterPosition& place, std::size_t max_bytes, std::int64_t now,
            std::ostream& out);

}  // namespace laneway::dlq
