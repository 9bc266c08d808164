#include "config/load/pool_settings.h"

#include <algorithm>
#include <tuple>

#include "base/cores.h"
#include "config/handlers/handlers.h"
#include "config/load/application.h"
#include "config/pools/pool_path.h"
#include "config/pools/pool_scope.h"

namespace laneway::config {
namespace {

/// In the order of the file.
std::vector<std::string> pool_names(const Settings& settings) {
  std::vector<const Setting*> named;
  for (const auto& [path, setting] : settings)
    if (const auto pool = pool_path(path); pool && pool->key.empty()) named.push_back(&setting);
  const auto place = [](const Setting* setting) {
    return std::tuple(setting->place.position.line, setting->place.position.column);
  };
  std::sort(named.begin(), named.end(),
            [&](const Setting* a, const Setting* b) { return place(a) < place(b); });
  std::vector<std::string> names;
  for (const Setting* setting : named) names.push_back(pool_path(setting->path)->pool);
  return names;
}

Pool by_default(const Config& config, const std::string& name) {
  Pool pool = unnamed_pool(config);
  pool.name = name;
  return pool;
}

/// A stage with a program or a plugin and no size of its own: the processor's cores. Without `workers`, a
/// pool has no more of them than `total`.
void size_stages(Config& config, const Settings& settings) {
  for (Pool& pool : config.pools) {
    const bool stage = std::any_of(config.pools.begin(), config.pools.end(),
                                   [&](const Pool& before) { return before.then == pool.name; });
    const auto scope = PoolPath{pool.name, ""}.scope();
    if (settings.contains(scope + "workers")) continue;
    if (stage && !settings.contains(scope + "total") &&
        handler_of(pool.handler.value_or(config.handler)).traits.occupies == Occupies::core)
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

void apply_pools(Config& config, const Settings& settings, Problems& problems) {
  for (const std::string& name : pool_names(settings)) {
    Config scope = config;
    scope.pools = {by_default(config, name)};
    Application application(scope, problems, PoolPath{name, ""}.scope());
    application.apply(settings);
    if (application.has_handler()) scope.pools.front().handler = scope.handler;
    config.pools.push_back(std::move(scope.pools.front()));
  }
  size_stages(config, settings);
}

void order_pools(std::vector<Pool>& pools) {
  std::vector<Pool> ordered;
  while (!pools.empty()) {
    const auto is_free = [&](const Pool& pool) {
      return std::none_of(pools.begin(), pools.end(),
                          [&](const Pool& before) { return before.then == pool.name; });
    };
    auto next = std::find_if(pools.begin(), pools.end(), is_free);
    if (next == pools.end()) next = pools.begin();  // a cycle, which the rules refuse
    ordered.push_back(std::move(*next));
    pools.erase(next);
  }
  pools = std::move(ordered);
}

}  // namespace laneway::config
