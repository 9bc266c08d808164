#include "config/pools/pool_scope.h"

#include <algorithm>

#include "config/text.h"

namespace laneway::config {

Pool unnamed_pool(const Config& config) {
  Pool pool;
  pool.workers = config.lanes.workers;
  pool.adaptive = config.lanes.adaptive;
  pool.queue = config.lanes.queue;
  pool.breaker = config.breaker;
  return pool;
}

std::vector<Pool> stages_of(const Config& config) {
  return config.pools.empty() ? std::vector{unnamed_pool(config)} : config.pools;
}

Config config_of(const Config& config, const Pool& pool) {
  Config one = config;
  one.pools = {pool};
  if (pool.handler) one.handler = *pool.handler;
  return one;
}

bool passes_on(const Config& of_handler) {
  return !of_handler.pools.empty() && !of_handler.pools.front().then.empty();
}

bool uses_own_handler(const Config& config) {
  const auto stages = stages_of(config);
  return std::any_of(stages.begin(), stages.end(), [](const Pool& pool) { return !pool.handler; });
}

const Pool* find_pool(const Config& config, const std::string& name) {
  return find_named(config.pools, name);
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
