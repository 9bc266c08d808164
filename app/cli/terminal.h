// The terminal at standard output, text of others that is safe to print there, and the cells of tables: text
// cut or filled up to a width in characters, in which nothing can control the terminal. Pure, except for the
// size of the terminal, set_up_log() and refused().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/loader.h"

namespace laneway::cli {

/// The columns of the terminal at standard output, 80 if it does not know; 0 if standard output is no
/// terminal.
std::size_t terminal_columns();

/// The rows of the terminal at standard output; 0 if it does not know, or if standard output is no terminal.
std::size_t terminal_rows();

/// Whether standard output is a terminal that can move its cursor and show colours.
bool draws_on_terminal();

/// The log of the verbs that answer a question. Warnings and errors of the Kafka client go to standard error,
/// or nowhere unless `shown`: a verb prints the reason of a failure itself, once. Called once, before the
/// process has other threads.
void set_up_log(bool shown);

/// Prints on standard error why `laneway VERB` has failed. Returns the exit code.
int refused(const std::string& verb, const Error& error);
/// The same for a configuration that could not be loaded, which names its file and lines.
int refused(const config::Loaded& loaded);

/// Lines of a server's or a broker's text: what could control a terminal, or show the text as another one
/// (utf8_control), becomes \u001b and so on, except the ends of lines and tabs; bytes that are not UTF-8
/// become \xNN. The result is JSON with the same content if the text is JSON.
std::string safe_text(std::string_view text);

inline constexpr std::size_t most_text = std::size_t{1} << 20;  ///< of a text that is not cut

/// The beginning of the text, or all of it and blanks.
std::string cell(std::string_view text, std::size_t width);
/// The same with the end of the text, where long names differ.
std::string end_cell(std::string_view text, std::size_t width);
/// Blanks and the whole text, which is ASCII.
std::string right(const std::string& text, std::size_t width);
/// Ends the line, without blanks at its end.
std::string ended(std::string line);

/// "42 s", "3 m", "5 h", "12 d", "3 y": rounded; never less for a longer time.
std::string age_text(std::int64_t ms);

}  // namespace laneway::cli
