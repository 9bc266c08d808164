// Parses error and log texts of the client library. Private to this module. Pure.
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

/// Why a connection could not be opened, without the client's states and counters: "kafka-1:9092
/// (10.0.0.7:9092): Connection refused". An address that is `known` to the reader is left out. Other words
/// stay as they are.
inline std::string connection_failure(const std::string& words, std::string_view known) {
  const std::string broker = broker_in(words);
  const auto end = words.rfind(" (after ");
  const auto text = std::string_view(words).substr(0, end);
  if (const auto why = after(text, ": Failed to resolve '" + broker + "': ", ""); !why.empty())
    return "the name of the host cannot be resolved: " + std::string(why);
  const auto address = after(text, ": Connect to ipv", " ");
  const auto why = after(text, " failed: ", "");
  if (address.empty() || why.empty()) return words;
  const std::string resolved(address.substr(address.find('#') + 1));
  const std::string place = resolved == broker ? broker : broker + " (" + resolved + ")";
  return (place == known ? "" : place + ": ") + std::string(why);
}

}  // namespace laneway::kafka
