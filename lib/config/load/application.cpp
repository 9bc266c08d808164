#include "config/load/application.h"

#include <algorithm>

#include "base/cores.h"
#include "config/client/client_keys.h"
#include "config/handlers/handlers.h"
#include "config/load/settings.h"
#include "config/pools/pool_path.h"
#include "config/pools/pool_scope.h"
#include "config/schema/schema.h"
#include "config/text.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

/// For several words that were written as one text.
std::string list_hint(const Property& property, const Setting& setting) {
  const Node& value = setting.value;
  const bool pattern = value.text.starts_with('^');
  if (!property.list || !value.is_scalar() || pattern || value.text.find_first_of(", ") == value.text.npos)
    return "";
  return how_to_write_list(setting.place, setting.path, value.written ? *value.written : value.text);
}

/// "such as exec: { command: [python3, handler.py] }"
std::string example_of(const std::string& handler) {
  if (const HandlerSchema* schema = find_handler(handler); schema != nullptr)
    for (const Property& property : schema->properties())
      if (!property.example.empty())
        return "such as " + handler + ": { " + property.name.substr(property.name.rfind('.') + 1) + ": " +
               property.example + " }";
  return "or {}";
}

/// Puts settings into a Config, one after the other.
class Application {
 public:
  /// The settings of `pool`; for the unnamed pool all of the service, without those of the named pools.
  /// `handler`: of the pool.
  Application(Config& config, PoolSettings& pool, HandlerSettings& handler, Problems& problems)
      : to_{config, pool, handler}, problems_(problems), scope_(pool.scope()) {}

  void apply(const Settings& settings) {
    std::vector<const Setting*> own;
    for (const auto& [path, setting] : settings)
      if (path.starts_with(scope_) && (!scope_.empty() || !pool_path(path))) own.push_back(&setting);
    choose_handler(own);
    for (const Setting* setting : own) {
      const auto& path = setting->path;
      if (path.starts_with("kafka.")) {
        apply_client_key(path.substr(6), *setting);
      } else if (const Property* property = find_property(path);
                 property != nullptr && applies(local(*setting))) {
        if (const auto bad = property->set(to_, setting->value))
          complain(*setting, *bad, property->expects + list_hint(*property, *setting));
      }
    }
  }
  /// Whether the settings name a handler that exists.
  bool has_handler() const { return !chosen_.empty(); }

 private:
  std::string local(const Setting& setting) const { return setting.path.substr(scope_.size()); }

  /// Settings of a handler apply when it was chosen.
  bool applies(const std::string& key) const {
    return !key.starts_with("handler.") || key.starts_with("handler." + chosen_ + ".");
  }

  void complain(const Setting& setting, const BadValue& bad, const std::string& expects) {
    SettingPlace place = setting.place;
    if (place.layer == Layer::file && bad.node.position.line > 0) place.position = bad.node.position;
    problems_.add(place, setting.path, found_message(bad.node, bad.what), "expected " + expects);
  }

  /// In the order of precedence, so that a second handler is reported where it was added.
  void choose_handler(const std::vector<const Setting*>& settings) {
    std::vector<const Setting*> ordered;
    for (const Setting* setting : settings)
      if (is_handler(local(*setting))) ordered.push_back(setting);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const Setting* a, const Setting* b) { return a->place.layer < b->place.layer; });
    for (const Setting* setting : ordered) choose_of(*setting);
  }

  void choose_of(const Setting& setting) {
    const auto parts = split(local(setting), ".");
    if (parts.size() == 1) return choose(setting, setting.value.is_scalar() ? setting.value.text : "");
    choose(setting, parts[1]);
    if (parts.size() == 2 && !setting.value.is_null() && !setting.value.is_map())
      complain(setting, {setting.value, ""}, "a group of keys, " + example_of(parts[1]));
  }

  void choose(const Setting& setting, const std::string& name) {
    const HandlerSchema* handler = find_handler(name);
    if (handler == nullptr) {
      complain(setting, {setting.value, ""},
               "one of " + join(handler_names(), ", ") + ", with the settings of the handler below it");
    } else if (chosen_.empty()) {
      chosen_ = name;
      to_.handler = handler->defaults;
    } else if (chosen_ != name && !refused_second_) {
      refused_second_ = true;
      const std::string one = scope_.empty() ? "a service has one handler" : "a pool has one handler";
      problems_.add(
          setting.place, setting.path, "the handler " + chosen_ + " is set already, and " + one,
          "remove one of the two; --set " + scope_ + "handler=" + name + " replaces the handler of the file");
    }
  }

  void apply_client_key(const std::string& name, const Setting& setting) {
    const ClientKey* key = find_client_key(name);
    if (key == nullptr) return;
    if (!setting.value.is_scalar()) return complain(setting, {setting.value, ""}, key->expects());
    if (const auto objection = key->objection(setting.value.text)) {
      const std::string found =
          key->secret ? "the secret is refused: " + *objection : found_message(setting.value, *objection);
      problems_.add(setting.place, setting.path, found, "expected " + key->expects());
    } else if (const auto safe = key->names_secret() ? check_owners_only(setting.value.text) : Status();
               !safe) {
      problems_.add(setting.place, setting.path, found_message(setting.value, safe.error().message),
                    safe.error().hint);
    } else {
      to_.config.kafka[name] = {setting.value.text, setting.place.text(), key->secret};
    }
  }

  const Scope to_;
  Problems& problems_;
  const std::string scope_;
  std::string chosen_;
  bool refused_second_ = false;
};

/// A stage with a program or a plugin and no size of its own: the processor's cores. Without `workers`, a
/// pool has no more of them than `total`.
void size_stages(Config& config, const Settings& settings) {
  for (PoolSettings& pool : config.pools) {
    const bool stage = std::any_of(config.pools.begin(), config.pools.end(),
                                   [&](const PoolSettings& before) { return before.then == pool.name; });
    if (settings.contains(pool.scope() + "workers")) continue;
    if (stage && !settings.contains(pool.scope() + "total") &&
        handler_of(config.handler_of(pool)).traits.occupies == Occupies::core)
      pool.total = cores();
    if (pool.total == 0) continue;
    pool.workers = std::min(pool.workers, pool.total);
    pool.adaptive = {};
  }
}

}  // namespace

std::vector<std::string> pools_of_file(const std::vector<Setting>& settings) {
  std::vector<std::string> names;
  for (const Setting& setting : settings)
    if (const auto pool = pool_path(setting.path); pool && pool->key.empty()) names.push_back(pool->pool);
  return names;
}

void apply_settings(Config& config, const Settings& settings, const std::vector<std::string>& pools,
                    Problems& problems) {
  Application(config, config.unnamed, config.handler, problems).apply(settings);
  for (const std::string& name : pools) {
    if (find_pool(config, name) != nullptr) continue;  // a key that is written twice
    PoolSettings pool = config.unnamed;
    pool.name = name;
    HandlerSettings handler;
    Application application(config, pool, handler, problems);
    application.apply(settings);
    if (application.has_handler()) pool.handler = std::move(handler);
    config.pools.push_back(std::move(pool));
  }
  size_stages(config, settings);
}

void order_pools(std::vector<PoolSettings>& pools) {
  std::vector<PoolSettings> ordered;
  while (!pools.empty()) {
    const auto is_free = [&](const PoolSettings& pool) {
      return std::none_of(pools.begin(), pools.end(),
                          [&](const PoolSettings& before) { return before.then == pool.name; });
    };
    auto next = std::find_if(pools.begin(), pools.end(), is_free);
    if (next == pools.end()) next = pools.begin();  // a cycle, which the rules refuse
    ordered.push_back(std::move(*next));
    pools.erase(next);
  }
  pools = std::move(ordered);
}

}  // namespace laneway::config
