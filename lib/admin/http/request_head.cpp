#include "admin/http/request_head.h"

#include <strings.h>

#include <algorithm>

#include "base/decimal.h"

namespace laneway::admin {
namespace {

bool begins_with_field(std::string_view line, std::string_view name) {
  return line.size() >= name.size() && strncasecmp(line.data(), name.data(), name.size()) == 0;
}

/// Calls `see(begin, end)` with the position of each line of `head` except the first, until it returns false.
template <class See>
void for_each_field(std::string_view head, See see) {
  for (auto line = head.find('\n'); line != head.npos && line + 1 < head.size();) {
    const auto next = head.find('\n', line + 1);
    if (!see(line + 1, next == head.npos ? head.size() : next + 1)) return;
    line = next;
  }
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto begin = text.find_first_not_of(blank);
  return begin == text.npos ? std::string_view()
                            : text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

}  // namespace

std::optional<std::size_t> end_of_head(std::string_view text, std::size_t searched) {
  constexpr std::string_view end = "\n\r\n";
  const auto found = text.find(end, searched - std::min(searched, end.size() - 1));
  if (found == text.npos) return std::nullopt;
  return found + end.size();
}

std::size_t without_unread_fields(std::string& text, std::size_t end) {
  std::string kept(text, 0, std::min(text.find('\n') + 1, end));
  for_each_field(std::string_view(text).substr(0, end), [&](std::size_t begin, std::size_t next) {
    const auto line = std::string_view(text).substr(begin, next - begin);
    if (!begins_with_field(line, "range:") && !begins_with_field(line, "expect:")) kept += line;
    return true;
  });
  text.replace(0, end, kept);
  return kept.size();
}

BodySize body_size(std::string_view head) {
  constexpr std::string_view length_field = "content-length:";
  BodySize size;
  for_each_field(head, [&](std::size_t begin, std::size_t next) {
    const auto line = head.substr(begin, next - begin);
    const auto name = line.substr(0, line.find(':'));
    if (name.ends_with(' ') || name.ends_with('\t')) {
      size.kind = BodySize::Kind::wrong;  // some servers read "Content-Length : 9" as a field of another name
    } else if (begins_with_field(line, "transfer-encoding:")) {
      size.kind = BodySize::Kind::unknown;
    } else if (begins_with_field(line, length_field)) {
      const auto bytes = decimal<std::size_t>(without_blanks(line.substr(length_field.size())));
      size = {bytes ? BodySize::Kind::known : BodySize::Kind::wrong, bytes.value_or(0)};
    }
    return size.kind == BodySize::Kind::known;
  });
  return size;
}

bool is_probe(std::string_view head) {
  for (const std::string_view begin : {"GET /livez", "GET /readyz", "HEAD /livez", "HEAD /readyz"})
    if (head.starts_with(begin) && head.size() > begin.size())
      return head[begin.size()] == ' ' || head[begin.size()] == '?';
  return false;
}

}  // namespace laneway::admin
