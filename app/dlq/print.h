// Dead letters as text for a person, and as JSON for a program. Nothing in a record can control the terminal.
// Pure; the caller passes the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "app/dlq/letter.h"

namespace laneway::dlq {

inline constexpr std::size_t table_width = 80;

/// The widths of the table's columns. Columns of places are filled up to their width.
struct Layout {
  std::size_t letter = 0;
  std::size_t origin = 0;
  std::size_t reason = 0;  ///< 0: nothing is cut, which is for a pipe or a file
};
/// For the letters of a topic with so many partitions, whose offsets are all below `end`. `width`: of the
/// terminal; 0: no terminal.
Layout layout_of(const std::string& topic, std::int32_t partitions, std::int64_t end, std::size_t width);

/// The parts of a row that do not come from the letter.
struct Row {
  std::int64_t now = 0;           ///< ms since 1970
  std::optional<bool> sent_back;  ///< by redrive; nullopt if unknown
};

/// Heading and row of the table. Each ends its line, and is not wider than the terminal if that has 40
/// columns.
std::string table_heading(const Layout& layout);
std::string table_row(const Letter& letter, const Row& row, const Layout& layout);

/// One object on one line: the letter's place, origin, reason and times, without key and value.
std::string json_line(const Letter& letter, std::optional<bool> sent_back);

/// Everything of a letter; of each header, the key and the value at most max_bytes (0: all).
std::string full_text(const Letter& letter, const Row& row, std::size_t max_bytes);

}  // namespace laneway::dlq
