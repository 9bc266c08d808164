// One setting: its name, the values that are right, and how a value goes into a Config and comes out as YAML
// again.
//
// The rows of the tables in schema/ and handlers/ are Properties. A row's Form has the type and the range,
// and reads and prints a field; `access` is a generic lambda from a Scope, const or not, to the field or to a
// tuple of fields, so that the default of a setting is written only once, with the field. Pure, except for
// the properties with the form file(): they read the file when they are set.
#pragma once

#include <charconv>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
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

/// What the right values of a setting are.
struct Shape {
  std::string expects;     ///< type and range: "a duration from 1ms to 1h"
  std::uint64_t most = 0;  ///< the largest right number, or size in bytes
  /// Takes a list or a map as well: --set and the environment may write it in YAML's flow style.
  bool structured = false;
  bool list = false;  ///< takes a list of single values
  /// Whether a value contains a secret; not set if no value does.
  std::function<bool(const Node&)> holds_secret;
};

/// `set` puts a value into a field, or returns why the value is wrong; `print`: the field as YAML.
template <class Set, class Print>
struct Form : Shape {
  Form(std::string expects_, Set set_, Print print_) : set(std::move(set_)), print(std::move(print_)) {
    expects = std::move(expects_);
  }

  Set set;
  Print print;
};

/// What a property is a setting of: the service with its unnamed pool, or one of the named pools, with the
/// settings of its handler. Holds references.
template <class Config, class Pool, class Handler>
struct ScopeOf {
  Config& config;
  Pool& pool;
  Handler& handler;
};
using Scope = ScopeOf<Config, PoolSettings, HandlerSettings>;
struct ConstScope : ScopeOf<const Config, const PoolSettings, const HandlerSettings> {
  ConstScope(const Config& config_, const PoolSettings& pool_)
      : ScopeOf{config_, pool_, config_.handler_of(pool_)} {}
  ConstScope(const Config& config_) : ConstScope(config_, config_.unnamed) {}  // NOLINT: the service
};

struct Property : Shape {
  template <class Form, class Access>
  Property(std::string name_, Reload reload_, const Form& form, Access access, std::string description_,
           std::string example_ = "")
      : Shape(form),
        name(std::move(name_)),
        reload(reload_),
        description(std::move(description_)),
        example(std::move(example_)),
        set([access, set_field = form.set](const Scope& scope, const Node& node) {
          return set_field(access(scope), node);
        }),
        print([access, print_field = form.print](const ConstScope& scope) {
          return print_field(access(scope));
        }),
        same([access](const ConstScope& a, const ConstScope& b) { return access(a) == access(b); }) {}

  std::string name;  ///< dotted: lanes.workers
  Reload reload;
  std::string description;  ///< one to three sentences
  std::string example;      ///< YAML, if no default is useful
  /// Sets the value, or returns why it is wrong.
  std::function<std::optional<BadValue>(const Scope&, const Node&)> set;
  /// The value in force as YAML in one line.
  std::function<std::string(const ConstScope&)> print;
  std::function<bool(const ConstScope&, const ConstScope&)> same;
  /// Why this change needs a restart, although others of this setting do not; empty if it does not. Not set
  /// for settings whose changes are all alike.
  std::function<std::string_view(const ConstScope&, const ConstScope&)> restart_for;
};

using Rows = std::vector<Property>;

inline void append(Rows& table, const Rows& rows) { table.insert(table.end(), rows.begin(), rows.end()); }
inline Rows joined(std::initializer_list<Rows> parts) {
  Rows table;
  for (const Rows& rows : parts) append(table, rows);
  return table;
}

/// From any struct to a field, from a Scope to a field of the Config or of the pool, and from any struct to
/// two of its fields.
#define IN(field) \
  [](auto& whole) -> auto& { return whole.field; }
#define AT(field) IN(config.field)
#define OF_POOL(field) IN(pool.field)
template <class One, class Other>
auto both(One one, Other other) {
  return [=](auto& whole) { return std::tie(std::invoke(one, whole), std::invoke(other, whole)); };
}

/// The row of a setting whose change needs a restart only if `decisive` returns something else of the Scope.
template <class Decisive>
Property restarting(Property row, std::string_view reason, Decisive decisive) {
  row.restart_for = [=](const ConstScope& a, const ConstScope& b) {
    return decisive(a) == decisive(b) ? std::string_view() : reason;
  };
  return row;
}

/// For the forms below: `parse` is a function from a text to a Result, and a check one from a text to the
/// reason why it is wrong, empty if it is right.
template <class Check>
auto checked(Check check) {
  return [check](const std::string& text) -> Result<std::string> {
    std::string what = check(text);
    if (!what.empty()) return wrong_value(std::move(what));
    return text;
  };
}

template <class Check>
auto empty_or(Check check) {
  return [check](const std::string& text) { return text.empty() ? std::string() : check(text); };
}

struct AnyValue {
  std::string operator()(const auto&) const { return ""; }
};

template <class Field, class Parse>
std::optional<BadValue> set_scalar(Field& field, const Node& node, const Parse& parse) {
  if (!node.is_scalar()) return BadValue{node, ""};
  auto parsed = parse(node.text);
  if (!parsed) return BadValue{node, parsed.error().message};
  field = std::move(parsed).value();
  return std::nullopt;
}

template <class Parse, class Print>
auto scalar(std::string expects, Parse parse, Print print) {
  return Form(
      std::move(expects), [parse](auto& field, const Node& node) { return set_scalar(field, node, parse); },
      print);
}

/// Of a setting that takes lists or maps.
template <class Set, class Print>
auto structured(std::string expects, Set set, Print print) {
  Form form(std::move(expects), std::move(set), std::move(print));
  form.structured = true;
  return form;
}

/// A list of scalars; a single scalar may be written without the brackets. `check` sees the whole list.
template <class Parse, class Check = AnyValue, class Print = std::string (*)(std::string_view)>
auto list(std::string expects, Parse parse, Check check = {}, Print print = yaml_scalar) {
  const auto set = [parse, check](auto& field, const Node& node) -> std::optional<BadValue> {
    if (!node.is_list() && !node.is_scalar()) return BadValue{node, ""};
    field.clear();
    for (const Node& item : node.is_list() ? node.items : std::vector<Node>{node}) {
      if (!item.is_scalar()) return BadValue{item, "an element of the list is not a single value"};
      auto parsed = parse(item.text);
      if (!parsed) return BadValue{item, parsed.error().message};
      field.push_back(std::move(parsed).value());
    }
    std::string what = check(field);
    return what.empty() ? std::nullopt : std::optional(BadValue{node, std::move(what)});
  };
  auto form = structured(std::move(expects), set, [print](const auto& field) {
    std::vector<std::string> items;
    for (const auto& item : field) items.push_back(print(item));
    return "[" + join(items, ", ") + "]";
  });
  form.list = true;
  return form;
}

/// As YAML in one line.
inline std::string flow_map(const std::vector<std::string>& items) {
  return items.empty() ? "{}" : "{ " + join(items, ", ") + " }";
}

/// A map. `set_entry` adds an entry, or returns why it is wrong; `print_item`: key and value to YAML.
template <class SetEntry, class PrintItem>
auto map(std::string expects, SetEntry set_entry, PrintItem print_item) {
  const auto set = [set_entry](auto& field, const Node& node) -> std::optional<BadValue> {
    if (!node.is_map() && !node.is_null()) return BadValue{node, ""};
    field.clear();
    for (const Entry& entry : node.entries)
      if (auto bad = set_entry(field, entry)) return bad;
    return std::nullopt;
  };
  return structured(std::move(expects), set, [print_item](const auto& field) {
    std::vector<std::string> items;
    for (const auto& [key, value] : field) items.push_back(print_item(key, value));
    return flow_map(items);
  });
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

/// Of any type of whole numbers.
inline auto count(std::uint64_t min, std::uint64_t max) {
  const auto set = [min, max]<class Number>(Number& field, const Node& node) {
    return set_scalar(field, node, [min, max](const std::string& text) {
      return parse_number(text, static_cast<Number>(min), static_cast<Number>(max));
    });
  };
  Form form("a whole number from " + std::to_string(min) + " to " + std::to_string(max), set,
            [](auto number) { return std::to_string(number); });
  form.most = max;
  return form;
}

/// For scalar().
template <class Value>
auto within(Result<Value> (*parse)(std::string_view), std::type_identity_t<Value> min,
            std::type_identity_t<Value> max) {
  return [parse, min, max](const std::string& text) -> Result<Value> {
    auto parsed = parse(text);
    if (parsed && (*parsed < min || *parsed > max)) return wrong_value("it is out of range");
    return parsed;
  };
}

inline auto duration(Duration min, Duration max) {
  return scalar(
      "a duration from " + print_duration(min) + " to " + print_duration(max) + ", such as 500ms, 2s or 1m",
      within(parse_duration, min, max), print_duration);
}

inline auto size(std::uint64_t min, std::uint64_t max) {
  auto form = scalar("a size from " + print_size(min) + " to " + print_size(max) + ", such as 64MiB or 1GiB",
                     within(parse_size, min, max), print_size);
  form.most = max;
  return form;
}

/// From 0 to 1.
inline auto fraction() {
  const auto print = [](double value) {
    std::string text(32, '\0');
    text.resize(static_cast<std::size_t>(std::to_chars(text.data(), text.data() + text.size(), value).ptr -
                                         text.data()));
    return text;
  };
  return scalar(
      "a number from 0 to 1, such as 0.01",
      [](const std::string& text) { return parse_number<double>(text, 0.0, 1.0); }, print);
}

/// The words of an enumeration.
template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

template <class Value>
std::optional<Value> value_of(const Words<Value>& words, std::string_view text) {
  for (const auto& [word, value] : words)
    if (word == text) return value;
  return std::nullopt;
}
/// Empty if the value has no word.
template <class Value>
std::string word_of(const Words<Value>& words, Value value) {
  for (const auto& [word, other] : words)
    if (other == value) return word;
  return "";
}

template <class Value>
auto choice(Words<Value> words) {
  std::vector<std::string> names;
  for (const auto& [word, value] : words) names.push_back(word);
  const auto parse = [words](const std::string& text) -> Result<Value> {
    if (const auto value = value_of(words, text)) return *value;
    return wrong_value("");
  };
  return scalar("one of " + join(names, ", "), parse, [words](Value value) { return word_of(words, value); });
}

inline auto flag() {
  auto form = choice<bool>({{"true", true}, {"false", false}});
  form.expects = "true or false";
  return form;
}

template <class Check = AnyValue>
auto text(std::string expects, Check check = {}) {
  return scalar(std::move(expects), checked(check), yaml_scalar);
}

/// Printed, and shown in errors, without the parts that may be secret.
template <class Check>
auto url(std::string expects, Check check) {
  const auto set = [check](std::string& field, const Node& node) {
    auto bad = set_scalar(field, node, checked(check));
    if (bad) bad->node.text = refused_without_secrets(bad->node.text);
    return bad;
  };
  return Form(std::move(expects), set, [](const std::string& field) {
    return yaml_scalar(field.empty() ? field : without_secrets(field));
  });
}

/// Of a text without a useful default: as long as it is empty, it is printed as no value.
template <class Set, class Print>
auto no_value_if_empty(Form<Set, Print> form) {
  return Form(form.expects, form.set, [print = form.print](const std::string& field) {
    return field.empty() ? std::string() : print(field);
  });
}

/// Two fields: a path and the content of the file. The file is read when the setting is set, so that `check`
/// finds an unreadable file.
inline auto file(Result<std::string> (*read)(const std::string&)) {
  const auto set = [read](std::tuple<std::string&, std::string&> fields,
                          const Node& node) -> std::optional<BadValue> {
    if (!node.is_scalar()) return BadValue{node, ""};
    auto& [path, content] = fields;
    path = node.text;
    content.clear();
    if (path.empty()) return std::nullopt;
    auto found = read(path);
    if (!found) return BadValue{node, found.error().text()};
    content = std::move(found).value();
    return std::nullopt;
  };
  return Form("the path of a file, or \"\" for none", set,
              [](const auto& fields) { return yaml_scalar(std::get<0>(fields)); });
}

}  // namespace laneway::config
