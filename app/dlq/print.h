// Dead letters as text for a person, and as JSON for a program. Nothing that a record holds can steer the
// terminal. Pure; times are given in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/dlq/letter.h"

namespace laneway::dlq {

inline constexpr std::size_t table_width = 80;

/// Heading and row of the table; neither is wider than table_width, each ends its line.
std::string table_heading();
std::string table_row(const Letter& letter, std::int64_t now);

/// One object on one line: where it is, where it came from, why, when; not what it holds.
std::string json_line(const Letter& letter);

/// All of it; of each header, the key and the value at most max_bytes (0: all).
std::string full_text(const Letter& letter, std::int64_t now, std::size_t max_bytes);

/// Cut or filled up to so many characters.
std::string cell(std::string_view text, std::size_t width);
/// "42 s", "3 m", "5 h", "12 d", "3 y".
std::string age_text(std::int64_t ms);

}  // namespace laneway::dlq
