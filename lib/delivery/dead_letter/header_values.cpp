#include "delivery/dead_letter/header_values.h"

#include <algorithm>

namespace laneway::delivery {

std::optional<std::string_view> last(const Headers& headers, std::string_view name) {
  const auto found = std::find_if(headers.rbegin(), headers.rend(),
                                  [&](const Header& header) { return header.name == name && header.value; });
  if (found == headers.rend()) return {};
  return *found->value;
}

std::string topic_in(std::optional<std::string_view> text) {
  constexpr std::size_t longest = 249;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (!text || text->empty() || text->size() > longest || *text == "." || *text == "..") return {};
  if (!std::all_of(text->begin(), text->end(), allowed)) return {};
  return std::string(*text);
}

void add(Headers& headers, std::string_view name, std::string value) {
  headers.push_back({std::string(name), std::move(value)});
}

}  // namespace laneway::delivery
