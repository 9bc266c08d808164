#include "config/pools/pool_scope.h"

#include <algorithm>

namespace laneway::config {

Config config_of(const Config& config, const Pool& pool) {
  Config one = config;
  one.pools = {pool};
  if (pool.handler) one.handler = *pool.handler;
  one.passes_on = !pool.then.empty();
  return one;
}

std::vector<Config> configs_of_handlers(const Config& config) {
  if (config.pools.empty()) return {config};
  std::vector<Config> all;
  for (const Pool& pool : config.pools) all.push_back(config_of(config, pool));
  return all;
}

bool uses_own_handler(const Config& config) {
  return config.pools.empty() || std::any_of(config.pools.begin(), config.pools.end(),
                                             [](const Pool& pool) { return !pool.handler; });
}

const Pool* find_pool(const Config& config, const std::string& name) {
  const auto found = std::find_if(config.pools.begin(), config.pools.end(),
                                  [&](const Pool& pool) { return pool.name == name; });
  return found == config.pools.end() ? nullptr : &*found;
}

std::vector<const Pool*> entrances(const Config& config) {
  std::vector<const Pool*> found;
  const auto& route = config.route;
  const auto is_entrance = [&](const Pool& pool) {
    if (!route.by.enabled()) return &pool == &config.pools.front();
    return pool.name == route.otherwise ||
           std::any_of(route.rows.begin(), route.rows.end(),
                       [&](const Route::Row& row) { return row.pool == pool.name; });
  };
  for (const Pool& pool : config.pools)
    if (is_entrance(pool)) found.push_back(&pool);
  return found;
}

}  // namespace laneway::config
