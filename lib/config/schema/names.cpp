#include "config/schema/names.h"

#include <functional>
#include <iterator>
#include <set>

#include "config/client/client_keys.h"
#include "config/client/refused_client_keys.h"
#include "config/handlers/handlers.h"
#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::config {
namespace {

Objection unknown(std::string_view path) {
  const auto near = nearest(path, known_names());
  return {"this key does not exist",
          near ? "did you mean " + *near + "?" : "see config/full.yaml for all keys"};
}

std::optional<Objection> object_to_client_key(std::string_view name) {
  if (find_client_key(name) != nullptr) return std::nullopt;
  if (const auto in_file = key_in_file(name)) {
    const auto* key = find_client_key(*in_file);
    if (key != nullptr && key->secret) return std::nullopt;
    if (key != nullptr)
      return Objection{"only a secret can be read from a file", "kafka." + std::string(key->name)};
  }
  if (const auto* key = find_refused_client_key(name))
    return Objection{"laneway does not take this key: " + std::string(key->reason),
                     key->instead.empty() ? "remove it" : "instead: " + std::string(key->instead)};
  return unknown("kafka." + std::string(name));
}

std::set<std::string, std::less<>> make_sections() {
  std::set<std::string, std::less<>> sections = {"", "kafka"};
  for (const Property& property : properties())
    for (auto dot = property.name.find('.'); dot != std::string::npos; dot = property.name.find('.', dot + 1))
      sections.insert(property.name.substr(0, dot));
  for (const std::string& name : handler_names()) sections.insert("handler." + name);
  return sections;
}

const std::set<std::string, std::less<>>& sections() {
  static const auto names = make_sections();
  return names;
}

}  // namespace

bool below(std::string_view path, std::string_view section) {
  return path.size() > section.size() && path.starts_with(section) && path[section.size()] == '.';
}

bool is_section(std::string_view path) { return sections().contains(path); }

std::optional<Objection> object_to(std::string_view path) {
  if (below(path, "kafka")) return object_to_client_key(path.substr(6));
  if (find_property(path) != nullptr || path == "handler") return std::nullopt;
  if (below(path, "handler") && is_section(path)) return std::nullopt;
  if (is_section(path))
    return Objection{"this is a group of keys", "name one of them, such as lanes.workers"};
  return unknown(path);
}

const std::vector<std::string>& known_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all(std::next(sections().begin()), sections().end());
    for (const Property& property : properties()) all.push_back(property.name);
    for (const ClientKey& key : client_keys()) {
      all.push_back("kafka." + std::string(key.name));
      if (key.secret) all.push_back(all.back() + std::string(secret_file_suffix));
    }
    return all;
  }();
  return names;
}

}  // namespace laneway::config
