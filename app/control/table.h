// A service's status as a table for a terminal: lanes in trouble first, by the kind of trouble, then the
// others by topic and partition, so that a lane keeps its place while it works. Nothing that a record or an
// error holds can steer the terminal. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace laneway::control {

struct TableStyle {
  bool colours = false;
  std::size_t rows = 0;     ///< of the terminal, one of them the cursor's; 0: all lines
  std::size_t columns = 0;  ///< of the terminal; 0: no terminal, and nothing is cut or wrapped
};

/// `status`: the JSON of /status. Each line ends, and is not wider than a terminal of 80 columns or more.
/// nullopt if `status` is not such JSON.
std::optional<std::string> render_status(const std::string& status, const TableStyle& style);

}  // namespace laneway::control
