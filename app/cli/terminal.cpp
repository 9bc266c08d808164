#include "app/cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "app/exit_code.h"
#include "base/utf8.h"
#include "config/text.h"
#include "delivery/dead_letter/dead_letter.h"
#include "telemetry/log.h"

namespace laneway::cli {
namespace {

/// Where the character begins that so many others precede.
std::size_t place_after(std::string_view text, std::size_t others) {
  std::size_t bytes = 0;
  for (; others > 0; --others) bytes += utf8_sequence_length(text, bytes);
  return bytes;
}

}  // namespace

std::size_t terminal_columns() {
  if (::isatty(STDOUT_FILENO) == 0) return 0;
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::size_t terminal_rows() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool draws_on_terminal() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

void set_up_log(bool shown) {
  const int nowhere = shown ? -1 : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  telemetry::set_up_log(telemetry::Level::warn, telemetry::Format::text,
                        nowhere < 0 ? STDERR_FILENO : nowhere);
}

int refused(const std::string& verb, const Error& error) {
  std::string text = error.text();
  if (text.ends_with('\n')) text.pop_back();  // a report on a configuration ends its lines
  std::cerr << "laneway " << verb << ": " << safe_text(text) << '\n';
  return app::exit_code_of(error.kind);
}

int refused(const config::Loaded& loaded) {
  std::cerr << config::report(loaded.errors);
  return app::exit_code_of(loaded.kind());
}

std::string safe_text(std::string_view text) {
  std::string out;
  std::array<char, 8> escape{};
  for (std::size_t at = 0; at < text.size();) {
    const auto length = utf8_sequence_length(text, at);
    const bool kept = text[at] == '\n' || text[at] == '\t';
    if (length == 0) {
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(text[at]));
      out += escape.data();
    } else if (!kept && utf8_control(text, at, length)) {
      std::snprintf(escape.data(), escape.size(), "\\u%04x", utf8_code_point(text, at, length));
      out += escape.data();
    } else {
      out += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string cell(std::string_view text, std::size_t width) {
  auto out = delivery::clean_text(text, 4 * std::max<std::size_t>(width, 80));
  if (const auto length = config::characters(out); length <= width)
    return out + std::string(width - length, ' ');
  return out.substr(0, place_after(out, std::max<std::size_t>(width, 1) - 1)) + "…";
}

std::string end_cell(std::string_view text, std::size_t width) {
  const auto out = delivery::clean_text(text, most_text);
  const auto length = config::characters(out);
  if (length <= width) return out + std::string(width - length, ' ');
  return "…" + out.substr(place_after(out, length + 1 - std::max<std::size_t>(width, 1)));
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string ended(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string age_text(std::int64_t ms) {
  const auto s = std::max<std::int64_t>(ms, 0) / 1000;
  const auto rounded = [s](std::int64_t unit) { return (s + unit / 2) / unit; };
  if (s < 120) return std::to_string(s) + " s";
  if (rounded(60) < 120) return std::to_string(rounded(60)) + " m";
  if (rounded(3600) < 72) return std::to_string(rounded(3600)) + " h";
  if (rounded(86400) < 1000) return std::to_string(rounded(86400)) + " d";
  return std::to_string(rounded(std::int64_t{365} * 86400)) + " y";
}

}  // namespace laneway::cli
