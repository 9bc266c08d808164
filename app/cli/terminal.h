// The terminal at standard output, and text of others that is safe to print there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace laneway::cli {

/// The columns of the terminal at standard output, 80 if it does not know; 0 if standard output is no
/// terminal.
std::size_t terminal_columns();

/// The rows of the terminal at standard output; 0 if it does not know, or if standard output is no terminal.
std::size_t terminal_rows();

/// Lines of a server's or a broker's text: what could control a terminal, or show the text as another one
/// (utf8_control), becomes \u001b and so on, except the ends of lines and tabs; bytes that are not UTF-8
/// become \xNN. The result is JSON with the same content if the text is JSON. Pure.
std::string safe_text(std::string_view text);

}  // namespace laneway::cli
