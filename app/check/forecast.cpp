#include "app/check/forecast.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/check/parking_forecast.h"
#include "config/handlers/handlers.h"
#include "config/pools/pool_scope.h"
#include "config/pools/selector.h"
#include "config/text.h"
#include "config/units.h"
#include "handler/registry.h"
#include "kafka/client/client_support.h"
#include "kafka/libraries.h"
#include "lane/shared/memory_plan.h"
#include "service/process/process_limits.h"

namespace laneway::app {
namespace {

using config::Config;
using config::counted;
using config::PoolSettings;

constexpr Duration after_drain = seconds(5);

std::string count(std::uint64_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + ' ' + (number == 1 ? one : many);
}

/// In whole MiB or KiB: a forecast is not exact.
std::string rounded_size(std::uint64_t bytes) {
  const std::uint64_t unit = bytes >= (8ULL << 20) ? 1ULL << 20 : 1ULL << 10;
  return config::print_size(bytes / unit * unit);
}

std::string basis(const Cluster& cluster) {
  const auto what = counted(cluster.partitions, "partition") + " on " + counted(cluster.brokers, "broker");
  return cluster.known ? "with " + what + ":\n"
                       : "with " + what + " (assumed; --connect asks the brokers):\n";
}

/// " of resize", or empty without named pools.
std::string of(const PoolSettings& pool) { return pool.named() ? " of " + pool.name : ""; }

/// The programs that handlers start, by their absolute paths.
std::string programs(const Config& config) {
  std::string text;
  for (const auto& pool : stages_of(config)) {
    const auto& settings = config.handler_of(pool);
    if (const auto& row = config::handler_of(settings); row.traits.program != nullptr)
      text += "  handler" + of(pool) + ": " + std::string(row.name) + " starts " +
              row.traits.program(settings) + "\n";
  }
  return text;
}

lane::MemoryPlan plan_of(const Config& config, const Cluster& cluster) {
  return lane::plan_memory(config.lanes.memory, cluster.partitions, cluster.brokers, config.consumers);
}

std::string memory(const Config& config, const Cluster& cluster) {
  const auto plan = plan_of(config, cluster);
  return "  memory: records take at most about " + rounded_size(config.lanes.memory) +
         "; each partition fetches at most " + rounded_size(plan.fetch.queued_max_kbytes * 1024) + " or " +
         std::to_string(plan.fetch.queued_min_messages) + " records ahead, and has at most " +
         rounded_size(plan.lane_bytes) + " in flight\n" +
         memory_of_compressed(plan.fetch, kafka::fetches_by_decompressed_size());
}

std::string threads(const Config& config, const Cluster& cluster) {
  const auto expected = service::expected_threads(config, cluster.partitions, cluster.brokers);
  const auto all = "  threads: at most about " + std::to_string(expected.all);
  if (expected.workers == 0)
    return all + ", of which " + count(expected.senders, "sends", "send") + " all requests\n";
  return all + ", of which " + std::to_string(expected.workers) + " workers (" +
         std::to_string(expected.workers / std::max<std::uint64_t>(cluster.partitions, 1)) +
         " for each partition; idle workers end), if this process has all partitions\n";
}

std::string open_files(const Config& config, const Cluster& cluster) {
  const auto expected = service::expected_descriptors(config, cluster.partitions, cluster.brokers);
  return "  open files: at most about " + std::to_string(expected.all) + ", with connections\n";
}

std::string records(const Config& config, const Cluster& cluster) {
  const auto& lanes = config.lanes;
  if (shows_pools(config)) return bound_of_lanes(config, rounded_size(plan_of(config, cluster).lane_bytes));
  return "  each partition: at most " + counted(config.unnamed.workers, "running record") + " and " +
         std::to_string(config.unnamed.queue) + " queued; then the lane is held; after " +
         config::print_duration(lanes.pause_after) + " the lane is paused, and fetching stops\n";
}

/// The running records of all partitions fill a batch.
std::string requests(const Config& config) {
  std::string text;
  const bool one_each = config.lanes.order == config::Order::partition;
  for (const auto& pool : stages_of(config)) {
    const auto requests = handler::resources_of(config.handler_of(pool)).requests;
    if (!requests) continue;
    const auto key = pool.named() ? "pools." + pool.name + ".workers" : "lanes.workers";
    text += "  requests" + of(pool) + ": at most " + std::to_string(requests->at_once) + " at a time";
    text += requests->batch == 0
                ? ", one for each record\n"
                : ", of up to " + counted(requests->batch, "record") +
                      " each, of which a partition provides " +
                      (one_each ? "1 (lanes.order: partition)"
                                : "up to " + std::to_string(pool.workers) + " (" + key + ")") +
                      "\n";
  }
  return text;
}

std::string commits(const Config& config) {
  return "  commits: after " + config::print_duration(config.commit.interval) + " or " +
         counted(config.commit.every, "record") + ", whichever comes first, for each member (" +
         std::to_string(config.consumers) + ")\n";
}

/// The attempts in retry topics; empty if there are no retry topics.
std::string later_attempts(const Config& config) {
  std::vector<std::string> topics;
  for (const auto& delay : config.retry.topics) topics.push_back(delay.topic_of("{topic}"));
  if (topics.empty()) return "";
  return "one attempt in each retry topic (" + config::join(topics, ", ") + ") after its delay; then ";
}

std::string failures(const Config& config) {
  const auto& retry = config.retry;
  if (!config.dead_letter.enabled())
    return "  failures: a record is retried forever, and its partition commits nothing beyond this record; "
           "retry.attempts needs dead_letter\n";
  return "  failures: " + counted(retry.attempts, "attempt") +
         " for a record that fails while others succeed, with at most " +
         config::print_duration(retry.max_elapsed) + " for all attempts and the delays between them; then " +
         later_attempts(config) + "the record goes to " + config.dead_letter.topic + "\n";
}

std::string outage(const config::BreakerSettings& breaker, const std::string& held) {
  if (breaker.failures == 0)
    return "not recognised (breaker.failures: 0); each failure counts as an attempt of its record\n";
  return "when " + count(breaker.failures, "record fails", "different records fail") +
         " in a row, or half of the records in " + config::print_duration(breaker.window) + ", " + held +
         ", no attempt counts, and every " + config::print_duration(breaker.probe) +
         " one record probes the downstream\n";
}

std::string outages(const Config& config) {
  std::vector<std::pair<std::string, std::string>> alike;  // what happens, and the pools
  for (const auto& pool : stages_of(config)) {
    const auto text = outage(pool.breaker, pool.named() ? "records wait for the pool" : "all lanes are held");
    const auto known =
        std::find_if(alike.begin(), alike.end(), [&](const auto& one) { return one.first == text; });
    if (known == alike.end())
      alike.emplace_back(text, of(pool));
    else
      known->second += ", " + pool.name;
  }
  std::string text;
  for (const auto& [what, pools] : alike) text += "  outages" + pools + ": " + what;
  return text;
}

std::string drains(const Config& config) {
  const auto drain = config.lanes.drain;
  return "  drain: at most " + config::print_duration(drain) +
         " on a rebalance and on SIGTERM; the process ends within " +
         config::print_duration(drain + after_drain) +
         " after a SIGTERM, so a supervisor must wait longer (TimeoutStopSec)\n";
}

/// The texts that lead to the pool: "gold, free-*, every other record".
std::string texts_of(const Config& config, const PoolSettings& pool) {
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
std::string stages_from(const Config& config, const PoolSettings* pool) {
  std::string text;
  for (; pool != nullptr; pool = find_pool(config, pool->then))
    text += pool->name + (pool->gather ? " (gathers) → " : " → ");
  return text + "finished";
}

std::string workers_of(const PoolSettings& pool) {
  if (pool.adaptive.enabled())
    return std::to_string(pool.adaptive.min) + " to " + counted(pool.workers, "running record") +
           " in the process, as many as the downstream can take,";
  auto text = "at most " + counted(pool.workers, "running record");
  if (pool.total > 0) text += " (" + std::to_string(pool.total) + " in the process)";
  return text;
}

/// `limits`: others, which come first.
std::string limits_of(const config::Rate& rate, std::vector<std::string> limits = {}) {
  if (rate.records > 0) limits.push_back(counted(rate.records, "record") + "/s");
  if (rate.bytes > 0) limits.push_back(config::print_size(rate.bytes) + "/s");
  return config::join(limits, " and ");
}

std::string each_of(const config::Each& each) {
  if (!each.by.enabled()) return "";
  std::vector<std::string> limits;
  if (each.workers > 0) limits.push_back(counted(each.workers, "running record") + " in the process");
  return "; for each " + config::print_selector(each.by) + " at most " + limits_of(each.rate, limits);
}

std::string limits_of(const Config& config, const PoolSettings& pool) {
  auto text = std::string(handler_of(config.handler_of(pool)).name) + ", " + workers_of(pool) + " and " +
              std::to_string(pool.queue) + " queued";
  if (pool.retry_workers > 0) text += ", and " + std::to_string(pool.retry_workers) + " that run again";
  if (const auto rate = limits_of(pool.rate); !rate.empty()) text += "; at most " + rate + " in the process";
  text += each_of(pool.each);
  if (!pool.helps.empty())
    text += "; idle workers run records of " + config::join(pool.helps, ", then ") +
            "; for a twentieth of the time first own ones that have waited " +
            config::print_duration(pool.longest_wait);
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

std::string forecast(const Config& config, const Cluster& cluster) {
  std::string text = basis(cluster) + programs(config) + memory(config, cluster) + threads(config, cluster) +
                     open_files(config, cluster) + records(config, cluster) + requests(config) +
                     commits(config) + failures(config) + outages(config) +
                     parking_forecast(config, plan_of(config, cluster).lane_bytes) + drains(config);
  if (config.consumers > cluster.partitions)
    text += "  members: " + std::to_string(config.consumers - cluster.partitions) + " of " +
            std::to_string(config.consumers) + " would have no partition\n";
  return text;
}

std::string memory_of_compressed(const kafka::FetchLimits& fetch, bool by_decompressed_size) {
  const auto client = "  compressed topics: librdkafka " + kafka::library_version();
  if (by_decompressed_size)
    return client +
           " (bundled) decompresses no more than that, and one batch of each partition in addition\n";
  return client + " (system) decompresses all that it fetched: each partition can take " +
         rounded_size(fetch.fetch_partition_bytes) + " times the ratio of the compression in addition\n";
}

std::string record_path(const Config& config) {
  if (!shows_pools(config)) return "";
  std::vector<std::pair<std::string, std::string>> paths;
  for (const PoolSettings* pool : entrances(config))
    paths.emplace_back(texts_of(config, *pool), stages_from(config, pool));
  std::vector<std::pair<std::string, std::string>> pools;
  for (const PoolSettings& pool : config.pools) pools.emplace_back(pool.name, limits_of(config, pool));
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
