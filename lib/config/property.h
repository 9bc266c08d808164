// One setting: its name, the values that are right, and how a value goes into a Config and comes out as YAML
// again.
//
// The builders below make the rows of the tables in schema/ and handlers/. `access` is a generic lambda from
// a Config, const or not, to the field, so that the default of a setting is written only once, with the
// field. Pure, except for the properties that file_property makes: they read the file when they are set.
#pragma once

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/checks/checks.h"
#include "config/config.h"
#include "config/text.h"
#include "config/units.h"
#include "config/yaml/document.h"

namespace laneway::config {

/// The wrong value, or the wrong element of a value, and the reason if Property::expects does not say it.
struct BadValue {
  Node node;
  std::string what;
};

/// Whether a running service can change a setting.
class Reload {
 public:
  static constexpr Reload in_flight() { return Reload(""); }
  /// `reason` explains to users why a change needs a restart; an empty reason does not compile.
  static consteval Reload restart(std::string_view reason) {
    return reason.empty() ? throw "a restart needs a reason" : Reload(reason);
  }

  bool is_in_flight() const { return restart_reason_.empty(); }
  std::string_view restart_reason() const { return restart_reason_; }

 private:
  constexpr explicit Reload(std::string_view restart_reason) : restart_reason_(restart_reason) {}

  std::string_view restart_reason_;
};

inline constexpr Reload in_flight = Reload::in_flight();
inline constexpr Reload handler_at_start = Reload::restart("the handler is created at the start");
inline constexpr Reload clients_at_start = Reload::restart("the Kafka clients are created at the start");

struct Property {
  Property(std::string name_, Reload reload_, std::string expects_, std::string description_)
      : name(std::move(name_)),
        reload(reload_),
        expects(std::move(expects_)),
        description(std::move(description_)) {}

  std::string name;  ///< dotted: lanes.workers
  Reload reload;
  std::string expects;      ///< type and range: "a duration from 1ms to 1h"
  std::string description;  ///< one to three sentences
  std::string example;      ///< YAML, if no default is useful
  std::uint64_t most = 0;   ///< the largest right number, or size in bytes
  /// Takes a list or a map as well: --set and the environment may write it in YAML's flow style.
  bool structured = false;
  bool list = false;  ///< takes a list of single values
  /// Sets the value, or returns why it is wrong.
  std::function<std::optional<BadValue>(Config&, const Node&)> set;
  /// As YAML in one line; empty if the setting is not set.
  std::function<std::string(const Config&)> print;
  /// For settings whose printed form leaves out a secret; otherwise not set, and printed forms are compared.
  std::function<bool(const Config&, const Config&)> equal;
  /// Why this change needs a restart, although others of this setting do not; empty if it does not. Not set
  /// for settings whose changes are all alike.
  std::function<std::string_view(const Config&, const Config&)> restart_for;
  /// Whether a value contains a secret; not set if no value does.
  std::function<bool(const Node&)> holds_secret;

  bool same(const Config& a, const Config& b) const { return equal ? equal(a, b) : print(a) == print(b); }
};

inline Error wrong_value(std::string what) { return {ErrorKind::configuration, std::move(what), ""}; }

/// A setting of one scalar. `parse`: text to Result of the field's type; `print`: the field to YAML.
template <class Access, class Parse, class Print>
Property scalar_property(std::string name, Reload reload, std::string expects, std::string description,
                         Access access, Parse parse, Print print) {
  Property property(std::move(name), reload, std::move(expects), std::move(description));
  property.set = [access, parse](Config& config, const Node& node) -> std::optional<BadValue> {
    if (!node.is_scalar()) return BadValue{node, ""};
    auto parsed = parse(node.text);
    if (!parsed) return BadValue{node, parsed.error().message};
    access(config) = std::move(parsed).value();
    return std::nullopt;
  };
  property.print = [access, print](const Config& config) { return print(access(config)); };
  property.equal = [access](const Config& a, const Config& b) { return access(a) == access(b); };
  return property;
}

/// A list of scalars; a single scalar may be written without the brackets. `check` sees the whole list.
template <class Access, class Parse, class Print, class Check>
Property list_property(std::string name, Reload reload, std::string expects, std::string description,
                       Access access, Parse parse, Print print, Check check) {
  Property property(std::move(name), reload, std::move(expects), std::move(description));
  property.structured = true;
  property.list = true;
  property.set = [access, parse, check](Config& config, const Node& node) -> std::optional<BadValue> {
    if (!node.is_list() && !node.is_scalar()) return BadValue{node, ""};
    const std::vector<Node> items = node.is_list() ? node.items : std::vector<Node>{node};
    auto& field = access(config);
    field.clear();
    for (const Node& item : items) {
      if (!item.is_scalar()) return BadValue{item, "an element of the list is not a single value"};
      auto parsed = parse(item.text);
      if (!parsed) return BadValue{item, parsed.error().message};
      field.push_back(std::move(parsed).value());
    }
    std::string what = check(field);
    return what.empty() ? std::nullopt : std::optional(BadValue{node, std::move(what)});
  };
  property.print = [access, print](const Config& config) {
    std::vector<std::string> items;
    for (const auto& item : access(config)) items.push_back(print(item));
    return "[" + join(items, ", ") + "]";
  };
  return property;
}

/// A map. `set_entry` adds an entry, or returns why it is wrong; `print_item`: key and value to YAML.
template <class Access, class SetEntry, class PrintItem>
Property map_property(std::string name, Reload reload, std::string expects, std::string description,
                      Access access, SetEntry set_entry, PrintItem print_item) {
  Property property(std::move(name), reload, std::move(expects), std::move(description));
  property.structured = true;
  property.set = [access, set_entry](Config& config, const Node& node) -> std::optional<BadValue> {
    if (!node.is_map() && !node.is_null()) return BadValue{node, ""};
    auto& map = access(config);
    map.clear();
    for (const Entry& entry : node.entries)
      if (auto bad = set_entry(map, entry)) return bad;
    return std::nullopt;
  };
  property.print = [access, print_item](const Config& config) {
    std::vector<std::string> items;
    for (const auto& [key, value] : access(config)) items.push_back(print_item(key, value));
    return items.empty() ? std::string("{}") : "{ " + join(items, ", ") + " }";
  };
  return property;
}

template <class Number>
Result<Number> parse_number(const std::string& text, Number min, Number max) {
  Number value{};
  const auto* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, value);
  if (failure == std::errc::result_out_of_range && rest == end) return wrong_value("it is out of range");
  if (failure != std::errc{} || rest != end) return wrong_value("");
  if (!(value >= min && value <= max)) return wrong_value("it is out of range");
  return value;
}

template <class Access>
Property count(std::string name, Reload reload, std::uint64_t min, std::uint64_t max, std::string description,
               Access access) {
  using Number = std::remove_reference_t<decltype(access(std::declval<Config&>()))>;
  const auto parse = [min, max](const std::string& text) {
    return parse_number<Number>(text, static_cast<Number>(min), static_cast<Number>(max));
  };
  auto property = scalar_property(
      std::move(name), reload, "a whole number from " + std::to_string(min) + " to " + std::to_string(max),
      std::move(description), access, parse, [](Number n) { return std::to_string(n); });
  property.most = max;
  return property;
}

/// A duration within bounds, for scalar_property.
inline auto parse_duration_within(Duration min, Duration max) {
  return [min, max](const std::string& text) -> Result<Duration> {
    auto parsed = parse_duration(text);
    if (parsed && (*parsed < min || *parsed > max)) return wrong_value("it is out of range");
    return parsed;
  };
}

template <class Access>
Property duration(std::string name, Reload reload, Duration min, Duration max, std::string description,
                  Access access) {
  return scalar_property(
      std::move(name), reload,
      "a duration from " + print_duration(min) + " to " + print_duration(max) + ", such as 500ms, 2s or 1m",
      std::move(description), access, parse_duration_within(min, max), print_duration);
}

template <class Access>
Property size(std::string name, Reload reload, std::uint64_t min, std::uint64_t max, std::string description,
              Access access) {
  const auto parse = [min, max](const std::string& text) -> Result<std::uint64_t> {
    auto parsed = parse_size(text);
    if (parsed && (*parsed < min || *parsed > max)) return wrong_value("it is out of range");
    return parsed;
  };
  auto property =
      scalar_property(std::move(name), reload,
                      "a size from " + print_size(min) + " to " + print_size(max) + ", such as 64MiB or 1GiB",
                      std::move(description), access, parse, print_size);
  property.most = max;
  return property;
}

/// From 0 to 1.
template <class Access>
Property fraction(std::string name, Reload reload, std::string description, Access access) {
  const auto print = [](double value) {
    std::string text(32, '\0');
    text.resize(static_cast<std::size_t>(std::to_chars(text.data(), text.data() + text.size(), value).ptr -
                                         text.data()));
    return text;
  };
  return scalar_property(
      std::move(name), reload, "a number from 0 to 1, such as 0.01", std::move(description), access,
      [](const std::string& text) { return parse_number<double>(text, 0.0, 1.0); }, print);
}

/// One of several words, each with its value.
template <class Value, class Access>
Property choice(std::string name, Reload reload, std::vector<std::pair<std::string, Value>> words,
                std::string description, Access access) {
  std::vector<std::string> names;
  for (const auto& [word, value] : words) names.push_back(word);
  const auto parse = [words](const std::string& text) -> Result<Value> {
    for (const auto& [word, value] : words)
      if (word == text) return value;
    return wrong_value("");
  };
  const auto print = [words](Value field) {
    for (const auto& [word, value] : words)
      if (value == field) return word;
    return std::string();
  };
  return scalar_property(std::move(name), reload, "one of " + join(names, ", "), std::move(description),
                         access, parse, print);
}

template <class Access>
Property flag(std::string name, Reload reload, std::string description, Access access) {
  auto property = choice<bool>(std::move(name), reload, {{"true", true}, {"false", false}},
                               std::move(description), access);
  property.expects = "true or false";
  return property;
}

/// `check` returns why the text is wrong, or an empty string.
template <class Access, class Check>
Property text(std::string name, Reload reload, std::string expects, std::string description, Access access,
              Check check) {
  const auto parse = [check](const std::string& value) -> Result<std::string> {
    std::string what = check(value);
    if (!what.empty()) return wrong_value(std::move(what));
    return value;
  };
  return scalar_property(std::move(name), reload, std::move(expects), std::move(description), access, parse,
                         yaml_scalar);
}

/// The file is read when the setting is set, so that `check` finds an unreadable file.
template <class Path, class Content, class Read>
Property file_property(std::string name, Reload reload, std::string description, Path path, Content content,
                       Read read) {
  Property property = text(std::move(name), reload, "the path of a file, or \"\" for none",
                           std::move(description), path, [](const std::string&) { return std::string(); });
  property.set = [=](Config& config, const Node& node) -> std::optional<BadValue> {
    if (!node.is_scalar()) return BadValue{node, ""};
    path(config) = node.text;
    content(config).clear();
    if (node.text.empty()) return std::nullopt;
    auto found = read(node.text);
    if (!found) return BadValue{node, found.error().text()};
    content(config) = std::move(found).value();
    return std::nullopt;
  };
  property.equal = [=](const Config& a, const Config& b) {
    return path(a) == path(b) && content(a) == content(b);
  };
  return property;
}

/// Printed, and shown in errors, without the parts that may be secret.
template <class Access, class Check>
Property url_property(std::string name, Reload reload, std::string expects, std::string description,
                      Access access, Check check) {
  Property property =
      text(std::move(name), reload, std::move(expects), std::move(description), access, check);
  property.set = [set = property.set](Config& config, const Node& node) {
    auto bad = set(config, node);
    if (bad) bad->node.text = refused_without_secrets(bad->node.text);
    return bad;
  };
  property.print = [access](const Config& config) {
    const std::string& url = access(config);
    return url.empty() ? yaml_scalar(url) : yaml_scalar(without_secrets(url));
  };
  return property;
}

}  // namespace laneway::config
