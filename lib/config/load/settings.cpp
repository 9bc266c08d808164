#include "config/load/settings.h"

#include <algorithm>

#include "config/client/client_keys.h"
#include "config/load/service_links.h"
#include "config/pools/pool_path.h"
#include "config/schema/names.h"
#include "config/schema/other_names.h"
#include "config/schema/schema.h"
#include "config/text.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

constexpr std::string_view prefix = "LANEWAY_";
constexpr std::string_view client_prefix = "LANEWAY_KAFKA__";
constexpr std::string_view pools_prefix = "LANEWAY_POOLS__";

/// The value of a misspelt variable may be a secret. Values that can only be a number, a word or a name are
/// shown.
bool may_hold_secret(const std::string& path) {
  if (below(path, "kafka") || path.ends_with(secret_file_suffix)) return path.ends_with(secret_file_suffix);
  const auto* property = find_property(path);
  return property == nullptr || (property->structured && property->most == 0);
}

void hide(Node& node) {
  node.hidden = true;
  for (Node& item : node.items) hide(item);
  for (Entry& entry : node.entries) hide(entry.value);
}

/// `of_pool`: the name of a pool, which may have hyphens; variables have none.
std::string with_underscores(std::string_view name, bool of_pool = false) {
  std::string out = lower(name);
  std::replace(out.begin(), out.end(), '.', '_');
  if (of_pool) std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

std::string variable_of(const std::string& path) {
  const bool client = below(path, "kafka");
  std::string name =
      client ? with_underscores(path.substr(6)) : with_underscores(join(split(path, "."), "__"));
  if (pool_path(path)) name = with_underscores(name, true);
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return std::string(client ? client_prefix : prefix) + name;
}

/// A text from outside the file: a list or a map in YAML's flow style if the setting takes one, else the
/// text.
void add_text(std::string path, const std::string& text, const SettingPlace& place, std::vector<Setting>& out,
              Problems& problems) {
  const bool hidden = place.layer == Layer::environment && may_hold_secret(path);
  Node value = scalar_node(text, {});
  if (text.empty() || text == "{}") value.kind = is_section(path) ? Node::Kind::null : Node::Kind::scalar;
  const auto* property = find_property(path);
  if (property != nullptr && property->structured && (text.starts_with('[') || text.starts_with('{'))) {
    Document document = parse_document(text);
    if (!document.faults.empty()) {
      value.hidden = hidden;
      const auto what = hidden ? "it cannot be read as YAML" : document.faults.front().what;
      problems.add(place, path, found_message(value, what),
                   "expected " + property->expects + how_to_write_list(place, path, text));
      return;
    }
    value = std::move(document.root);
  }
  if (hidden) hide(value);
  if (place.layer == Layer::command_line && property != nullptr && property->holds_secret &&
      property->holds_secret(value)) {
    problems.add(place, path, "every user of the machine can see a secret on the command line",
                 "use the key with _file, or the variable " + variable_of(path));
    return;
  }
  out.push_back({std::move(path), std::move(value), place});
}

/// The client's key for the ending of a variable: keys have dots and underscores, variables only underscores.
std::string client_path(std::string_view ending) {
  const auto wanted = with_underscores(ending);
  for (const ClientKey& key : client_keys()) {
    const auto name = with_underscores(key.name);
    if (name == wanted) return "kafka." + std::string(key.name);
    if (key.secret && name + std::string(secret_file_suffix) == wanted)
      return "kafka." + std::string(key.name) + std::string(secret_file_suffix);
  }
  for (const RefusedClientKey& key : refused_client_keys())
    for (const auto& name : split(key.names, " "))
      if (with_underscores(name) == wanted) return "kafka." + name;
  return "kafka." + wanted;
}

/// The pool of the file whose name begins `ending`, and the key. Without one, the words of the variable.
std::string pool_setting(std::string_view ending, const std::vector<std::string>& pools) {
  const auto wanted = lower(ending);
  for (const std::string& pool : pools)
    if (const auto begin = with_underscores(pool, true) + "__"; wanted.starts_with(begin))
      return name_in_pool(pool, join(split(wanted.substr(begin.size()), "__"), "."));
  return "pools." + join(split(wanted, "__"), ".");
}

std::string path_of(std::string_view variable, const std::vector<std::string>* pools) {
  if (variable.starts_with(client_prefix)) return client_path(variable.substr(client_prefix.size()));
  if (variable.starts_with(pools_prefix) && pools != nullptr)
    return pool_setting(variable.substr(pools_prefix.size()), *pools);
  return join(split(lower(variable.substr(prefix.size())), "__"), ".");
}

/// The nearest variable for a misspelt one, by the variables' own names.
std::string hint_for(const std::string& variable, const std::string& path, const Objection& objection) {
  if (objection.what != unknown_key) return objection.hint;
  if (const auto key = key_for_other_name(path))
    if (!is_section(*key)) return "did you mean " + variable_of(*key) + "?";
  std::vector<std::string> variables;
  for (const std::string& name : known_names())
    if (!is_section(name)) variables.push_back(variable_of(name));
  const auto near = nearest(variable, variables);
  return near ? "did you mean " + *near + "?"
              : "the variable of lanes.workers is LANEWAY_LANES__WORKERS: two underscores for a dot";
}

/// Replaces the setting of a secret's file by one of the secret. False if the file cannot be read.
bool read_secret_file(Setting& setting, Problems& problems) {
  const auto content = read_secret(setting.value.text);
  if (!content) {
    problems.add(setting.place, setting.path, found_message(setting.value, content.error().message),
                 content.error().hint);
    return false;
  }
  setting.value.text = *content;
  setting.path.resize(setting.path.size() - secret_file_suffix.size());
  return true;
}

bool is_secret_file(const std::string& path) {
  return below(path, "kafka") && key_in_file(path) && find_client_key(path.substr(6)) == nullptr;
}

/// Refuses a secret and its file in the same place: no precedence decides between the two.
bool contradicts(const Setting& setting, const Settings& merged, Problems& problems) {
  const bool file = is_secret_file(setting.path);
  const auto other =
      merged.find(file ? setting.path.substr(0, setting.path.size() - secret_file_suffix.size())
                       : setting.path + std::string(secret_file_suffix));
  if (other == merged.end() || other->second.place.layer != setting.place.layer) return false;
  problems.add(setting.place, setting.path, "the secret is set twice, also as " + other->first,
               "remove one of the two");
  return true;
}

/// The setting that names a pool, without a value.
bool names_pool(const std::string& path) {
  const auto pool = pool_path(path);
  return pool && pool->key.empty();
}

void put(Setting setting, Settings& merged) {
  std::erase_if(merged, [&](const auto& item) {
    const auto& path = item.first;
    const bool same_secret = path + std::string(secret_file_suffix) == setting.path ||
                             setting.path + std::string(secret_file_suffix) == path;
    if (below(path, "kafka")) return same_secret;  // dots there do not nest
    if (names_pool(path) || names_pool(setting.path)) return false;
    const bool same_handler =
        schema_name(setting.path) == "handler" && below(path, setting.path + '.' + setting.value.text);
    if (same_handler) return false;
    return below(path, setting.path) || below(setting.path, path);
  });
  auto path = setting.path;
  merged.insert_or_assign(std::move(path), std::move(setting));
}

/// Why a setting of a pool has no pool in the file; nullopt if it has one.
std::optional<Objection> object_to_pool(const std::string& path, const std::vector<std::string>* pools) {
  const auto of_pool = pool_path(path);
  if (!of_pool || pools == nullptr || std::find(pools->begin(), pools->end(), of_pool->pool) != pools->end())
    return std::nullopt;
  const std::string what = "the file has no pool " + printable(of_pool->pool);
  if (pools->empty()) return Objection{what, "pools are named in the file, below pools"};
  if (const auto near = nearest(of_pool->pool, *pools))
    return Objection{what, "did you mean the pool " + *near + "?"};
  return Objection{what, "the pools of the file are " + join(*pools, ", ")};
}

/// Two pools whose variables would have the same name; nullopt if there are none.
std::optional<Objection> object_to_ambiguity(const std::string& path, const std::vector<std::string>* pools) {
  const auto of_pool = pool_path(path);
  if (!of_pool || pools == nullptr) return std::nullopt;
  for (const std::string& other : *pools)
    if (other != of_pool->pool && with_underscores(other, true) == with_underscores(of_pool->pool, true))
      return Objection{"this variable could mean the pool " + of_pool->pool + " or the pool " + other,
                       "use --set, or the file"};
  return std::nullopt;
}

}  // namespace

std::vector<Setting> settings_of_environment(const EnvironmentVariables& environment,
                                             const std::vector<std::string>* pools, Problems& problems) {
  std::vector<Setting> found;
  for (auto it = environment.lower_bound(std::string(prefix));
       it != environment.end() && it->first.starts_with(prefix); ++it) {
    const SettingPlace place{Layer::environment, it->first, {}};
    auto path = path_of(it->first, pools);
    auto of_pools = object_to_pool(path, pools);
    if (!of_pools) of_pools = object_to_ambiguity(path, pools);
    if (of_pools) {
      problems.add(place, "", of_pools->what, of_pools->hint);
    } else if (const auto objection = object_to(path)) {
      if (!is_service_link(it->first, it->second))
        problems.add(place, "", objection->what, hint_for(it->first, path, *objection));
    } else {
      add_text(std::move(path), it->second, place, found, problems);
    }
  }
  return found;
}

std::vector<Setting> settings_of_command_line(const std::vector<std::string>& sets,
                                              const std::vector<std::string>* pools, Problems& problems) {
  std::vector<Setting> found;
  int number = 0;
  for (const std::string& set : sets) {
    ++number;
    const auto equals = set.find('=');
    if (equals == set.npos || equals == 0) {
      problems.add({Layer::command_line, set, {number, 1}}, "", "expected KEY=VALUE",
                   "such as --set lanes.workers=16");
      continue;
    }
    auto path = set.substr(0, equals);
    const SettingPlace place{Layer::command_line, path, {number, 1}};
    const auto* key = below(path, "kafka") ? find_client_key(std::string_view(path).substr(6)) : nullptr;
    if (key != nullptr && key->secret) {
      problems.add(place, path, "every user of the machine can see a secret on the command line",
                   "use " + path + "_file, or the variable " + variable_of(path));
    } else if (const auto pool = object_to_pool(path, pools)) {
      problems.add(place, path, pool->what, pool->hint);
    } else if (const auto objection = object_to(path)) {
      problems.add(place, path, objection->what, objection->hint);
    } else {
      add_text(std::move(path), set.substr(equals + 1), place, found, problems);
    }
  }
  return found;
}

std::string how_to_write_list(const SettingPlace& place, const std::string& path, const std::string& text) {
  if (place.layer == Layer::environment) return "; write " + variable_of(path) + "='[a, b]'";
  std::vector<std::string> words;
  for (const auto& part : split(text, ","))
    for (const auto& word : split(part, " "))
      if (!word.empty()) words.push_back(yaml_scalar(word));
  const bool broken = text.starts_with('[') || text.starts_with('{');
  const auto list = broken || words.empty() ? std::string("[a, b]") : "[" + join(words, ", ") + "]";
  if (place.layer == Layer::command_line) return "; write --set " + path + "='" + list + "'";
  return "; write " + path.substr(path.rfind('.') + 1) + ": " + list;
}

Settings merge(std::vector<Setting> all, Problems& problems) {
  Settings merged;
  for (Setting& setting : all)
    if (!contradicts(setting, merged, problems)) put(std::move(setting), merged);
  Settings read;
  for (auto& [path, setting] : merged) {
    if (is_secret_file(path) && !read_secret_file(setting, problems)) continue;
    auto name = setting.path;
    read.insert_or_assign(std::move(name), std::move(setting));
  }
  return read;
}

}  // namespace laneway::config
