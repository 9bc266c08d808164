// Durations and sizes as people write them: a whole number and its unit, in one word.
//
//   duration  250us 500ms 2s 1m 1h, also ns      size  200B 64KiB 1MiB 2GiB, also TiB
//
// Parsing and printing are pure and inverse: parse(print(x)) == x. An Error's message says what is wrong with
// the text, its hint what would be right; neither names a key or a file, which the caller knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace laneway::config {

Result<Duration> parse_duration(std::string_view text);
Result<std::uint64_t> parse_size(std::string_view text);

/// In the largest unit that is exact: 90s, not 1.5m. `duration` must not be negative.
std::string print_duration(Duration duration);
std::string print_size(std::uint64_t bytes);

}  // namespace laneway::config
