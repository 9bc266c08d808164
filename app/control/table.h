// A service's status as a table for a terminal: the lanes that are in trouble first. Nothing that a record or
// an error holds can steer the terminal. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace laneway::control {

inline constexpr std::size_t table_width = 80;

struct TableStyle {
  bool colours = false;
  std::size_t rows = 0;  ///< of the terminal, one of them the cursor's; 0: all lines
};

/// `status`: the JSON of /status. Each line ends, and none is wider than table_width. Nothing for what is no
/// such JSON.
std::optional<std::string> render_status(const std::string& status, const TableStyle& style);

}  // namespace laneway::control
