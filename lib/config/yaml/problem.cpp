#include "config/yaml/problem.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "config/text.h"

namespace laneway::config {

Origin SettingPlace::text() const {
  if (layer == Layer::command_line) return "--set " + printable(source);
  if (layer == Layer::environment) return printable(source);
  if (position.line == 0) return source;
  return source + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
}

void Problems::add(const SettingPlace& place, const std::string& key, const std::string& what,
                   std::string hint) {
  const bool usage = place.layer == Layer::command_line;
  const bool named_already = key.empty() || (usage && place.source == key);
  problems_.push_back(
      {place,
       key,
       {usage ? ErrorKind::usage : ErrorKind::configuration,
        place.text() + ": " + (named_already ? "" : printable(key) + ": ") + what, std::move(hint)}});
}

void Problems::add_no_input(const SettingPlace& place, const std::string& what, std::string hint) {
  problems_.push_back({place, "", {ErrorKind::no_input, place.text() + ": " + what, std::move(hint)}});
}

bool Problems::about(const std::string& key) const {
  return std::any_of(problems_.begin(), problems_.end(),
                     [&](const Problem& problem) { return problem.key == key; });
}

bool Problems::concern(const std::string& key) const {
  return std::any_of(problems_.begin(), problems_.end(), [&](const Problem& problem) {
    if (problem.key == key || problem.key == key + "_file" || problem.key.starts_with(key + ".")) return true;
    for (auto name = key; !name.empty(); name.resize(name.rfind('.') == name.npos ? 0 : name.rfind('.')))
      if (problem.error.hint == "did you mean " + name + "?") return true;
    return problem.error.hint.starts_with("did you mean " + key + ".");
  });
}

std::vector<Error> Problems::sorted() const {
  const auto rank = [](const Problem& p) {
    const auto& at = p.place.position;
    return std::tuple(p.place.layer, at.line == 0 ? std::numeric_limits<int>::max() : at.line, at.column,
                      p.place.source);
  };
  auto ordered = problems_;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  std::vector<Error> errors;
  errors.reserve(ordered.size());
  for (auto& problem : ordered) errors.push_back(std::move(problem.error));
  return errors;
}

std::string shown(const Node& value) {
  if (value.hidden) return "a value that is not shown";
  switch (value.kind) {
    case Node::Kind::null:
      return "no value";
    case Node::Kind::list:
      return value.items.empty() ? "an empty list" : "a list";
    case Node::Kind::map:
      return value.entries.empty() ? "an empty map" : "a map";
    case Node::Kind::scalar:
      break;
  }
  if (value.written) return in_quotes(*value.written) + " (its content is not shown)";
  return in_quotes(value.text);
}

std::string found_message(const Node& value, const std::string& what) {
  const auto found = "found " + shown(value);
  if (what.empty()) return found;
  return what.starts_with("it ") ? found + ", which" + what.substr(2) : found + ": " + what;
}

}  // namespace laneway::config
