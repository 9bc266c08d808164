#include "app/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace laneway::cli {

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

}  // namespace laneway::cli
