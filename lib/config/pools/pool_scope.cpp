#include "config/pools/pool_scope.h"

#include <algorithm>

#include "config/text.h"

namespace laneway::config {

std::span<const PoolSettings> stages_of(const Config& config) {
  return config.pools.empty() ? std::span(&config.unnamed, 1) : std::span(config.pools);
}

std::vector<std::string> names_of(std::span<const PoolSettings> pools) {
  std::vector<std::string> names;
  for (const PoolSettings& pool : pools) names.push_back(pool.name);
  return names;
}

const PoolSettings* find_pool(const Config& config, const std::string& name) {
  return find_named(config.pools, name);
}

std::vector<const PoolSettings*> entrances(const Config& config) {
  std::vector<const PoolSettings*> found;
  const auto& route = config.route;
  const auto stages = stages_of(config);
  const auto is_entrance = [&](const PoolSettings& pool) {
    if (!route.by.enabled()) return &pool == &stages.front();
    return pool.name == route.otherwise ||
           std::any_of(route.rows.begin(), route.rows.end(),
                       [&](const RouteSettings::Row& row) { return row.pool == pool.name; });
  };
  for (const PoolSettings& pool : stages)
    if (is_entrance(pool)) found.push_back(&pool);
  return found;
}

bool shows_pools(const Config& config) { return stages_of(config).front().named(); }

bool shows_handler(const Config& config) {
  const auto stages = stages_of(config);
  return std::any_of(stages.begin(), stages.end(), [](const PoolSettings& pool) { return !pool.handler; });
}

}  // namespace laneway::config
