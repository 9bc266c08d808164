// Makes bytes of unknown origin (keys, answers, client library messages) safe to print on one line of a log
// or terminal.
//
// Pure functions, callable from any thread; nothing blocks or fails.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace laneway::telemetry {

/// Appends `bytes` with everything escaped that could break a line or control a terminal: control characters
/// (utf8_control) and bytes that are not UTF-8 become \n, \r, \t or \xNN, a backslash is doubled. Everything
/// else, including UTF-8, is unchanged.
void append_escaped(std::string& out, std::string_view bytes);

/// Appends `bytes` as one value of key=value text: bare if it is one plain word, otherwise quoted and
/// escaped.
void append_text_value(std::string& out, std::string_view bytes);

/// Appends `bytes` as a JSON string with quotes. Bytes that are not UTF-8 appear as the text \xNN.
void append_json_string(std::string& out, std::string_view bytes);

/// The first `longest` bytes, escaped as by append_escaped(), and "..." if more bytes follow.
std::string excerpt(std::string_view bytes, std::size_t longest = 200);

}  // namespace laneway::telemetry
