// The terminal at standard output.
#pragma once

#include <cstddef>

namespace laneway::cli {

/// The columns of the terminal at standard output, 80 if it does not know; 0 if standard output is no
/// terminal.
std::size_t terminal_columns();

/// The rows of the terminal at standard output; 0 if it does not know, or if standard output is no terminal.
std::size_t terminal_rows();

}  // namespace laneway::cli
