#include "config/schema/names.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "config/client/client_keys.h"
#include "config/handlers/handlers.h"
#include "config/pools/pool_path.h"
#include "config/schema/other_names.h"
#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::config {
namespace {

constexpr std::size_t most_listed = 12;

/// The keys and groups right below a group, without the group's name; of kafka, the whole names.
std::vector<std::string> keys_in(std::string_view group) {
  std::vector<std::string> keys;
  const auto above = schema_name(group);
  for (const std::string& name : known_names()) {
    if (!below(name, above)) continue;
    const auto key = std::string_view(name).substr(above.size() + 1);
    if (group == "kafka" || key.find('.') == key.npos) keys.emplace_back(key);
  }
  return keys;
}

/// In the group that the path names; without a group, in all groups but that of the Kafka client, whose names
/// have several words.
std::optional<std::string> nearest_key(std::string_view path) {
  if (find_client_key(path) != nullptr) return "kafka." + std::string(path);
  if (below(path, "kafka")) {
    std::vector<std::string> names;
    for (const std::string& key : keys_in("kafka")) names.push_back("kafka." + key);
    return nearest(path, names);
  }
  const auto dot = path.rfind('.');
  const auto group = path.substr(0, dot == path.npos ? 0 : dot);
  if (!group.empty() && is_section(group)) {
    auto key = nearest(path.substr(dot + 1), keys_in(group));
    if (key) key->insert(0, std::string(group) + '.');
    return key;
  }
  std::vector<std::string> names;
  for (const std::string& name : known_names())
    if (dot != path.npos || !below(name, "kafka")) names.push_back(name);
  return nearest(path, names);
}

std::string list_of_keys(std::string_view path) {
  const auto group = path.substr(0, std::min(path.rfind('.'), path.size()));
  const auto keys = group == path || !is_section(group) ? std::vector<std::string>() : keys_in(group);
  if (keys.empty() || keys.size() > most_listed) return "laneway help keys prints all keys";
  return "the keys of " + std::string(group) + " are " + join(keys, ", ");
}

/// The key of this pool for a name that other programs use.
std::optional<std::string> other_name(std::string_view path) {
  auto meant = key_for_other_name(schema_name(path));
  const auto of_pool = pool_path(path);
  if (!meant || !of_pool) return meant;
  const bool in_pool = meant->starts_with(pool_rows) || below(*meant, "handler") || *meant == "handler";
  return in_pool ? name_in_pool(of_pool->pool, *meant) : meant;
}

/// A table of names that other programs use comes first: such a name may be near to an unrelated key.
Objection unknown(std::string_view path) {
  auto meant = other_name(path);
  if (!meant) meant = nearest_key(path);
  if (const auto of_pool = pool_path(path); of_pool && meant && meant->starts_with(pool_rows))
    meant = name_in_pool(of_pool->pool, *meant);
  if (!meant) return {unknown_key, list_of_keys(path)};
  auto hint = "did you mean " + *meant + "?";
  return {unknown_key, std::move(hint), std::move(*meant)};
}

std::optional<Objection> object_to_client_key(std::string_view name) {
  if (find_client_key(name) != nullptr) return std::nullopt;
  if (const auto in_file = key_in_file(name)) {
    const auto* key = find_client_key(*in_file);
    if (key != nullptr && key->secret) return std::nullopt;
    if (key != nullptr)
      return Objection{"only the value of a secret can be read from a file",
                       "write kafka." + std::string(key->name) + " with the value itself"};
  }
  if (const auto* key = find_refused_client_key(name))
    return Objection{
        "laneway does not accept this key: " + std::string(key->reason),
        key->instead.empty() ? "remove the key" : "use " + std::string(key->instead) + " instead"};
  return unknown("kafka." + std::string(name));
}

std::set<std::string, std::less<>> make_sections() {
  std::set<std::string, std::less<>> sections = {"", "kafka"};
  for (const Property& property : properties())
    for (auto dot = property.name.find('.'); dot != std::string::npos; dot = property.name.find('.', dot + 1))
      sections.insert(property.name.substr(0, dot));
  for (const std::string& name : handler_names()) sections.insert("handler." + name);
  sections.insert(std::string(pool_rows) + "handler");
  return sections;
}

const std::set<std::string, std::less<>>& sections() {
  static const auto names = make_sections();
  return names;
}

/// The first key of a group, for messages.
std::string example_in(std::string_view section) {
  for (const Property& property : properties())
    if (below(property.name, schema_name(section))) {
      const auto pool = pool_path(section);
      return pool ? name_in_pool(pool->pool, property.name) : property.name;
    }
  return below("kafka.group.id", section) ? "kafka.group.id" : "lanes.workers";
}

}  // namespace

bool below(std::string_view path, std::string_view section) {
  return path.size() > section.size() && path.starts_with(section) && path[section.size()] == '.';
}

bool is_section(std::string_view path) { return sections().contains(schema_name(path)); }

std::optional<Objection> object_to(std::string_view path) {
  if (below(path, "kafka")) return object_to_client_key(path.substr(6));
  const auto name = schema_name(path);
  if (find_property(path) != nullptr || name == "handler") return std::nullopt;
  const bool handler =
      below(name, "handler") && name.find('.', std::string_view("handler.").size()) == name.npos;
  if (handler && is_section(path)) return std::nullopt;
  if (is_section(path))
    return Objection{"this is a group of keys", "name one key of the group, such as " + example_in(path)};
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
