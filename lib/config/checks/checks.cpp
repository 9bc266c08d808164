#include "config/checks/checks.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "config/checks/topic_pattern.h"
#include "config/text.h"

namespace laneway::config {
namespace {

/// Escapes of Perl, Java and Python, which compile and then match the letter itself: \d matches "d".
std::string check_escapes(const std::string& pattern) {
  for (std::size_t at = 0; at + 1 < pattern.size(); ++at) {
    if (pattern[at] != '\\') continue;
    const char c = pattern[++at];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter || std::string_view("wWsSbB").find(c) != std::string_view::npos) continue;
    return std::string("POSIX extended syntax has no \\") + c +
           (c == 'd'   ? "; write [0-9]"
            : c == 'D' ? "; write [^0-9]"
                       : "");
  }
  return "";
}

std::string check_pattern(const std::string& pattern) {
  if (pattern.size() == 1) return "the pattern is empty";
  if (auto escapes = check_escapes(pattern); !escapes.empty()) return escapes;
  const TopicPattern compiled(pattern);
  if (!compiled.error().empty())
    return "the pattern does not compile (POSIX extended syntax): " + compiled.error();
  return "";
}

constexpr int most_ports = 100;  // of a range; a command asks each of them for its service

/// Begin and end of authority_of().
std::pair<std::size_t, std::size_t> authority(const std::string& url) {
  const auto scheme = url.find("://");
  const auto begin = scheme == url.npos ? 0 : scheme + 3;
  return {begin, std::min(url.find_first_of("/?#", begin), url.size())};
}

}  // namespace

bool is_host(std::string_view text) { return !text.empty() && is_word(text, ".-_:[]"); }

bool is_port(std::string_view text, unsigned min) {
  unsigned port = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  return failure == std::errc{} && rest == text.data() + text.size() && port >= min && port <= 65535;
}

std::string check_listen(const std::string& address) {
  if (const auto scheme = address.find("://"); scheme != address.npos)
    return "it begins with " + in_quotes(address.substr(0, scheme + 3)) + "; write HOST:PORT";
  if (is_digits(address)) return "it has no host; write 127.0.0.1:" + address + " or 0.0.0.0:" + address;
  const auto colon = address.rfind(':');
  if (colon == address.npos) return "it has no port";
  const auto host = address.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (!is_host(host)) return "it has no host";
  if (!bracketed && host.find(':') != host.npos) return "an IPv6 address needs brackets, such as [::1]:9644";
  const auto ports = address.substr(colon + 1);
  const auto dash = ports.find('-');
  if (dash == ports.npos) return is_port(ports) ? "" : "the port is not a number up to 65535";
  const auto first = ports.substr(0, dash), last = ports.substr(dash + 1);
  if (!is_port(first, 1) || !is_port(last, 1)) return "the ports are not numbers from 1 to 65535";
  const auto more = std::stoi(last) - std::stoi(first);
  return more >= 0 && more < most_ports ? "" : "the last port is not the first one or one of the 99 after it";
}

std::string authority_of(const std::string& url) {
  const auto [begin, end] = authority(url);
  return url.substr(begin, end - begin);
}

std::string check_url(const std::string& url) {
  const auto scheme = lower(url.substr(0, 8));
  if (!scheme.starts_with("http://") && scheme != "https://")
    return "it does not start with http:// or https://";
  if (!is_ascii(url) || url.find(' ') != url.npos)
    return "it contains a space or a character that is not printable ASCII";
  auto host = authority_of(url);
  host.erase(0, host.rfind('@') + 1);
  const auto colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find(']', colon) == host.npos;
  if (!is_host(has_port ? host.substr(0, colon) : host)) return "it has no host";
  return !has_port || is_port(host.substr(colon + 1)) ? "" : "the port is not a number up to 65535";
}

std::string check_content_type(const std::string& type) {
  if (type.empty()) return "it is empty";
  return is_ascii(type) ? "" : "it contains a character that a request header may not contain";
}

std::string check_header(std::string_view name) {
  static const std::set<std::string> own = {
      "connection",  "content-length", "content-type",      "expect",     "host",       "te",    "trailer",
      "traceparent", "upgrade",        "transfer-encoding", "keep-alive", "user-agent", "accept"};
  if (name.empty()) return "it is empty";
  if (!is_word(name, "!#$%&'*+-.^_`|~"))
    return "it contains a character that the name of a header may not contain";
  const auto lowered = lower(name);
  if (own.contains(lowered) || lowered.starts_with("kafka-") || lowered.starts_with("laneway-") ||
      lowered.starts_with("proxy-"))
    return "laneway or HTTP sets this header itself";
  return "";
}

std::string check_command(const std::vector<std::string>& command) {
  if (command.empty()) return "the list is empty";
  const std::string& program = command.front();
  if (program.empty()) return "the program is empty";
  if (program.starts_with('/') || program.find(' ') == program.npos) return "";
  std::vector<std::string> words;
  for (const auto& word : split(program, " "))
    if (!word.empty()) words.push_back(in_quotes(word));
  return "no shell splits this line into words; write each word by itself: [" + join(words, ", ") + "]";
}

std::string check_topic(const std::string& topic) {
  if (topic.empty()) return "it is empty";
  if (topic.front() == '^') return check_pattern(topic);
  if (topic.size() > 249) return "it is longer than 249 characters";
  if (topic == "." || topic == "..") return "Kafka does not allow this name";
  if (is_word(topic, "._-")) return "";
  const bool pattern = topic.find_first_of("*+?()[]|$\\") != topic.npos;
  return std::string("it contains a character other than letters, digits, dot, underscore and hyphen") +
         (pattern ? "; a pattern starts with ^" : "");
}

std::string check_consumed_topic(const std::string& topic) {
  if (auto what = check_topic(topic); !what.empty()) return what;
  if (topic.front() != '^' || !TopicPattern(topic).finds("__consumer_offsets")) return "";
  return "the pattern also matches __consumer_offsets, to which each commit adds a record, so the lag "
         "would never end; begin with ^[^_] to exclude Kafka's own topics";
}

std::string check_topic_template(const std::string& text) {
  if (text.empty()) return "";
  const auto name = topic_from_template(text, "t");
  if (name.front() == '^') return "it is the name of a topic, not a pattern";
  return check_topic(name);
}

std::string topic_from_template(const std::string& text, const std::string& topic) {
  constexpr std::string_view placeholder = "{topic}";
  const auto at = text.find(placeholder);
  return at == text.npos ? text : text.substr(0, at) + topic + text.substr(at + placeholder.size());
}

std::optional<std::string> topic_of_template(const std::string& text, const std::string& name) {
  constexpr std::string_view placeholder = "{topic}";
  const auto at = text.find(placeholder);
  if (at == text.npos) return name == text ? std::optional(std::string()) : std::nullopt;
  const auto before = std::string_view(text).substr(0, at);
  const auto after = std::string_view(text).substr(at + placeholder.size());
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
    return std::nullopt;
  return name.substr(before.size(), name.size() - before.size() - after.size());
}

std::string check_topics(const std::vector<std::string>& topics) {
  if (topics.empty()) return "the list is empty";
  const bool pattern =
      std::any_of(topics.begin(), topics.end(), [](const auto& t) { return t.front() == '^'; });
  if (pattern && topics.size() > 1)
    return "a pattern must be the only topic; combine them in one pattern, such as ^(orders|payments.*)$";
  return check_distinct(topics);
}

std::string check_distinct(const std::vector<std::string>& topics) {
  std::set<std::string> seen;
  for (const auto& topic : topics)
    if (!seen.insert(topic).second) return in_quotes(topic) + " is listed twice";
  return "";
}

std::string check_json_pointer(const std::string& pointer) {
  if (!pointer.empty() && pointer.front() != '/') return "it does not begin with a /";
  for (auto at = pointer.find('~'); at != pointer.npos; at = pointer.find('~', at + 1))
    if (at + 1 == pointer.size() || (pointer[at + 1] != '0' && pointer[at + 1] != '1'))
      return "in a JSON pointer ~ is written as ~0, and / as ~1";
  return "";
}

bool has_login(const std::string& url) {
  return url.find("://") != url.npos && authority_of(url).find('@') != url.npos;
}

std::string without_secrets(const std::string& url) {
  auto [begin, end] = authority(url);
  std::string shown = url.substr(0, std::min(url.find_first_of("?#"), url.size()));
  if (shown.size() < url.size()) shown += "?*****";
  const auto at = url.substr(0, end).rfind('@');
  if (at != url.npos && at >= begin) shown.replace(begin, at - begin, "*****");
  return shown;
}

std::string refused_without_secrets(const std::string& url) {
  const auto begin = authority(url).first;
  const auto at = url.rfind('@');
  const bool user = at != url.npos && at >= begin;
  const auto shown = user ? url.substr(0, begin) + "*****" + url.substr(at) : url;
  const auto query = shown.find_first_of("?#");
  return query == shown.npos ? shown : shown.substr(0, query) + "?*****";
}

}  // namespace laneway::config
