// Parses error and log texts of the client library. Private to this folder. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace laneway::kafka {

inline bool has(std::string_view words, std::string_view part) { return words.find(part) != words.npos; }

/// The text after `before`, up to the first of the characters of `ends`. Empty if `before` is not found.
inline std::string_view after(std::string_view words, std::string_view before, std::string_view ends) {
  const auto at = words.find(before);
  if (at == words.npos) return {};
  words.remove_prefix(at + before.size());
  return words.substr(0, words.find_first_of(ends));
}

/// Whether the text says that the other side closed the connection, in the words of newer releases of the
/// library.
inline bool hung_up(std::string_view words) {
  return has(words, "connection closed by peer") || has(words, "connection reset by peer");
}

/// The broker that a text is about: kafka-1:9093 in "ssl://kafka-1:9093/bootstrap: …", "kafka-1:9093/1: …"
/// and "GroupCoordinator: kafka-1:9093: …". A line of the log begins with the name of a thread.
inline std::string broker_in(std::string_view words) {
  constexpr std::string_view end_of_thread = "]: ";
  if (words.starts_with("[thrd:"))
    if (const auto end = words.find(end_of_thread); end != words.npos)
      words.remove_prefix(end + end_of_thread.size());
  constexpr std::string_view logical = "GroupCoordinator: ";
  const bool with_address =
      words.starts_with(logical) && words.find(": ", logical.size()) < words.find(' ', logical.size());
  if (with_address) words.remove_prefix(logical.size());
  const auto scheme = words.find("://");
  if (scheme != words.npos) words.remove_prefix(scheme + 3);
  return std::string(words.substr(0, std::min(words.find('/'), words.find(": "))));
}

}  // namespace laneway::kafka
