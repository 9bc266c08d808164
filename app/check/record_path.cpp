#include "app/check/record_path.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/handlers/handlers.h"
#include "config/pools/pool_scope.h"
#include "config/pools/selector.h"
#include "config/text.h"
#include "config/units.h"

namespace laneway::app {
namespace {

using config::Config;
using config::counted;
using config::Pool;

/// The texts that lead to the pool: "gold, free-*, every other record".
std::string texts_of(const Config& config, const Pool& pool) {
  const auto& route = config.route;
  if (!route.by.enabled()) return "every record";
  if (route.by.kind == config::Selector::Kind::round_robin) {
    const auto turns = std::count_if(route.rows.begin(), route.rows.end(),
                                     [&](const auto& row) { return row.pool == pool.name; });
    return counted(static_cast<std::uint64_t>(turns), "record") + " of " + std::to_string(route.rows.size());
  }
  std::vector<std::string> texts;
  for (const auto& row : route.rows)
    if (row.pool == pool.name) texts.push_back(row.text + (row.prefix ? "*" : ""));
  if (route.otherwise == pool.name) texts.emplace_back("every other record");
  return config::join(texts, ", ");
}

/// "load → resize → store (gathers) → finished"
std::string stages_from(const Config& config, const Pool* pool) {
  std::string text;
  for (; pool != nullptr; pool = find_pool(config, pool->then))
    text += pool->name + (pool->gather ? " (gathers) → " : " → ");
  return text + "finished";
}

std::string workers_of(const Pool& pool) {
  if (pool.adaptive.enabled())
    return std::to_string(pool.adaptive.min) + " to " + counted(pool.workers, "running record") +
           " in the process, as many as the downstream can take,";
  auto text = "at most " + counted(pool.workers, "running record");
  if (pool.total > 0) text += " (" + std::to_string(pool.total) + " in the process)";
  return text;
}

std::string rate_of(const config::Rate& rate) {
  std::vector<std::string> limits;
  if (rate.records > 0) limits.push_back(counted(rate.records, "record") + "/s");
  if (rate.bytes > 0) limits.push_back(config::print_size(rate.bytes) + "/s");
  return config::join(limits, " and ");
}

std::string each_of(const config::Each& each) {
  if (!each.by.enabled()) return "";
  std::string text = "; for each " + config::print_selector(each.by) + " at most ";
  if (each.workers > 0) text += counted(each.workers, "running record") + " in the process";
  const auto rate = rate_of(each.rate);
  if (each.workers > 0 && !rate.empty()) text += " and ";
  return text + rate;
}

std::string limits_of(const Config& config, const Pool& pool) {
  auto text = std::string(handler_of(pool.handler.value_or(config.handler)).name) + ", " + workers_of(pool) +
              " and " + std::to_string(pool.queue) + " queued";
  if (pool.retry_workers > 0) text += ", and " + std::to_string(pool.retry_workers) + " that run again";
  if (const auto rate = rate_of(pool.rate); !rate.empty()) text += "; at most " + rate + " in the process";
  text += each_of(pool.each);
  if (!pool.helps.empty())
    text += "; idle workers run records of " + config::join(pool.helps, ", then ") +
            ", but first own ones that have waited " + config::print_duration(pool.longest_wait);
  return text;
}

/// Texts before the rest of each line, padded to the same width.
std::string aligned(const std::vector<std::pair<std::string, std::string>>& rows, const char* between) {
  std::size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  std::string text;
  for (const auto& [left, right] : rows)
    text += "  " + left + std::string(width - left.size(), ' ') + between + right + '\n';
  return text;
}

}  // namespace

std::string record_path(const Config& config) {
  if (config.pools.empty()) return "";
  std::vector<std::pair<std::string, std::string>> paths;
  for (const Pool* pool : entrances(config))
    paths.emplace_back(texts_of(config, *pool), stages_from(config, pool));
  std::vector<std::pair<std::string, std::string>> pools;
  for (const Pool& pool : config.pools) pools.emplace_back(pool.name, limits_of(config, pool));
  const auto& by = config.route.by;
  return "path of a record" + (by.enabled() ? ", by " + config::print_selector(by) : "") + ":\n" +
         aligned(paths, " → ") + "pools of each partition:\n" + aligned(pools, "  ");
}

std::string bound_of_lanes(const Config& config, const std::string& lane_bytes) {
  const auto& lanes = config.lanes;
  const bool passes = entrances(config).size() > 1;
  return "  each partition: at most " + std::to_string(lanes.max_incomplete) +
         " records from the oldest unfinished one to the newest (lanes.max_incomplete), and " + lane_bytes +
         " of records in flight (its share of lanes.memory)" +
         (passes ? "; within these bounds records pass those whose pool is full, slow or out" : "") +
         "; then the lane is held; after " + config::print_duration(lanes.pause_after) +
         " the lane is paused, and fetching stops\n";
}

}  // namespace laneway::app
