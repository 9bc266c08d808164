#include "config/schema/trace_headers.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "config/text.h"

namespace laneway::config {
namespace {

using Headers = std::map<std::string, std::string>;

/// Why laneway does not send such a header; empty if it does. The text does not have the value.
std::string check_entry(const std::string& name, const std::string& value) {
  if (auto what = check_header(name); !what.empty()) return what;
  return !value.empty() && is_ascii(value)
             ? ""
             : "the value is empty, or has a line break or a character that is not ASCII";
}

std::optional<BadValue> set_entry(Headers& headers, const Entry& entry) {
  if (!entry.value.is_scalar()) return BadValue{key_node(entry), "a header has one value"};
  if (auto what = check_entry(entry.key, entry.value.text); !what.empty())
    return BadValue{key_node(entry), std::move(what)};
  headers[entry.key] = entry.value.text;
  return std::nullopt;
}

/// %XX are bytes.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto digits = text.substr(at + 1, 2);
    unsigned byte = 0;
    const auto [rest, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    const bool escape = text[at] == '%' && digits.size() == 2 && failure == std::errc{} &&
                        rest == digits.data() + digits.size();
    out += escape ? static_cast<char>(byte) : text[at];
    if (escape) at += 2;
  }
  return out;
}

/// Why the text is wrong; empty if it is right.
std::string add_list(Headers& headers, const std::string& list) {
  const Headers written = headers;
  for (const auto& part : split(list, ",")) {
    const auto item = trimmed(part);
    if (item.empty()) continue;
    const auto equals = item.find('=');
    if (equals == item.npos) return "an element is not NAME=VALUE";
    const std::string name(trimmed(item.substr(0, equals)));
    const auto value = decoded(trimmed(item.substr(equals + 1)));
    if (auto what = check_entry(name, value); !what.empty()) return what;
    const bool named = std::any_of(written.begin(), written.end(),
                                   [&](const auto& header) { return lower(header.first) == lower(name); });
    if (!named) headers[name] = value;
  }
  return "";
}

}  // namespace

Property trace_headers_property(Reload reload) {
  auto form =
      map("a map of header names to values, such as { authorization: \"Bearer ${TOKEN}\" }", set_entry,
          [](const std::string& name, const std::string&) { return yaml_scalar(name) + ": \"*****\""; });
  form.holds_secret = [](const Node& node) { return !node.entries.empty(); };
  Property property("trace.headers", reload, form, AT(trace.headers),
                    "Headers of the requests to the collector, in addition to those of the variable "
                    "OTEL_EXPORTER_OTLP_HEADERS. The values are treated as secrets.");
  property.set = [set = property.set](const Scope& scope, const Node& node) {
    auto bad = set(scope, node);
    if (bad && !node.is_map()) bad->node.hidden = true;
    return bad;
  };
  return property;
}

void add_trace_headers(Config& config, const std::map<std::string, std::string>& environment,
                       Problems& problems) {
  if (config.trace.otlp.empty()) return;
  for (const auto* name : {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"}) {
    const auto found = environment.find(name);
    if (found == environment.end()) continue;
    if (const auto what = add_list(config.trace.headers, found->second); !what.empty())
      problems.add({Layer::environment, name, {}}, "", what,
                   "write NAME=VALUE,NAME=VALUE, with %2C for a comma in a value");
    return;
  }
}

}  // namespace laneway::config
