#include "app/check/forecast.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/check/record_path.h"
#include "config/handlers/handlers.h"
#include "config/pools/pool_scope.h"
#include "config/text.h"
#include "config/units.h"
#include "handler/registry.h"
#include "kafka/client/client_support.h"
#include "kafka/libraries.h"
#include "lane/shared/memory_plan.h"
#include "service/process/process_limits.h"

namespace laneway::app {
namespace {

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
  const auto what =
      config::counted(cluster.partitions, "partition") + " on " + config::counted(cluster.brokers, "broker");
  return cluster.known ? "with " + what + ":\n"
                       : "with " + what + " (assumed; --connect asks the brokers):\n";
}

/// " of resize", or empty without named pools.
std::string of(const config::Pool& pool) { return pool.named() ? " of " + pool.name : ""; }

/// The programs that handlers start, by their absolute paths.
std::string programs(const config::Config& config) {
  std::string text;
  for (const auto& pool : stages_of(config)) {
    const auto& settings = pool.handler.value_or(config.handler);
    if (const auto& row = config::handler_of(settings); row.traits.program != nullptr)
      text += "  handler" + of(pool) + ": " + std::string(row.name) + " starts " +
              row.traits.program(settings) + "\n";
  }
  return text;
}

lane::MemoryPlan plan_of(const config::Config& config, const Cluster& cluster) {
  return lane::plan_memory(config.lanes.memory, cluster.partitions, cluster.brokers, config.consumers);
}

std::string memory(const config::Config& config, const Cluster& cluster) {
  const auto plan = plan_of(config, cluster);
  return "  memory: records take at most about " + rounded_size(plan.total) +
         "; each partition fetches at most " + rounded_size(plan.fetch.queued_max_kbytes * 1024) + " or " +
         std::to_string(plan.fetch.queued_min_messages) + " records ahead, and has at most " +
         rounded_size(plan.lane_bytes) + " in flight\n" +
         memory_of_compressed(plan.fetch, kafka::fetches_by_decompressed_size());
}

std::string threads(const config::Config& config, const Cluster& cluster) {
  const auto expected = service::expected_threads(config, cluster.partitions, cluster.brokers);
  const auto all = "  threads: at most about " + std::to_string(expected.all);
  if (expected.workers == 0)
    return all + ", of which " + count(expected.senders, "sends", "send") + " all requests\n";
  return all + ", of which " + std::to_string(expected.workers) + " workers (" +
         std::to_string(expected.workers / std::max<std::uint64_t>(cluster.partitions, 1)) +
         " for each partition; idle workers end), if this process has all partitions\n";
}

std::string open_files(const config::Config& config, const Cluster& cluster) {
  const auto expected = service::expected_descriptors(config, cluster.partitions, cluster.brokers);
  return "  open files: at most about " + std::to_string(expected.all) + ", with connections\n";
}

std::string records(const config::Config& config, const Cluster& cluster) {
  const auto& lanes = config.lanes;
  if (!config.pools.empty()) return bound_of_lanes(config, rounded_size(plan_of(config, cluster).lane_bytes));
  return "  each partition: at most " + config::counted(lanes.workers, "running record") + " and " +
         std::to_string(lanes.queue) + " queued; then the lane is held; after " +
         config::print_duration(lanes.pause_after) + " the lane is paused, and fetching stops\n";
}

/// The running records of all partitions fill a batch.
std::string requests(const config::Config& config) {
  std::string text;
  const bool one_each = config.lanes.order == config::Order::partition;
  for (const auto& pool : stages_of(config)) {
    const auto requests = handler::resources_of(pool.handler.value_or(config.handler)).requests;
    if (!requests) continue;
    const auto key = pool.named() ? "pools." + pool.name + ".workers" : "lanes.workers";
    text += "  requests" + of(pool) + ": at most " + std::to_string(requests->at_once) + " at a time";
    text += requests->batch == 0
                ? ", one for each record\n"
                : ", of up to " + config::counted(requests->batch, "record") +
                      " each, of which a partition provides " +
                      (one_each ? "1 (lanes.order: partition)"
                                : "up to " + std::to_string(pool.workers) + " (" + key + ")") +
                      "\n";
  }
  return text;
}

std::string commits(const config::Config& config) {
  return "  commits: after " + config::print_duration(config.commit.interval) + " or " +
         config::counted(config.commit.every, "record") + ", whichever comes first, for each member (" +
         std::to_string(config.consumers) + ")\n";
}

/// The attempts in retry topics; empty if there are no retry topics.
std::string later_attempts(const config::Config& config) {
  std::string text;
  for (const auto& delay : config.retry.topics)
    text += (text.empty() ? "" : ", ") + delay.topic_of("{topic}");
  return text.empty() ? text : "one attempt in each retry topic (" + text + ") after its delay; then ";
}

std::string failures(const config::Config& config) {
  const auto& retry = config.retry;
  if (!config.dead_letter.enabled())
    return "  failures: a record is retried forever, and its partition commits nothing beyond this record; "
           "retry.attempts needs dead_letter\n";
  return "  failures: " + config::counted(retry.attempts, "attempt") +
         " for a record that fails while others succeed, with at most " +
         config::print_duration(retry.max_elapsed) + " for all attempts and the delays between them; then " +
         later_attempts(config) + "the record goes to " + config.dead_letter.topic + "\n";
}

std::string outage(const config::Breaker& breaker, const std::string& held) {
  if (breaker.failures == 0)
    return "not recognised (breaker.failures: 0); each failure counts as an attempt of its record\n";
  return "when " + count(breaker.failures, "record fails", "different records fail") +
         " in a row, or half of the records in " + config::print_duration(breaker.window) + ", " + held +
         ", no attempt counts, and every " + config::print_duration(breaker.probe) +
         " one record probes the downstream\n";
}

std::string outages(const config::Config& config) {
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

std::string drains(const config::Config& config) {
  const auto drain = config.lanes.drain;
  return "  drain: at most " + config::print_duration(drain) +
         " on a rebalance and on SIGTERM; the process ends within " +
         config::print_duration(drain + after_drain) +
         " after a SIGTERM, so a supervisor must wait longer (TimeoutStopSec)\n";
}

}  // namespace

std::string forecast(const config::Config& config, const Cluster& cluster) {
  std::string text = basis(cluster) + programs(config) + memory(config, cluster) + threads(config, cluster) +
                     open_files(config, cluster) + records(config, cluster) + requests(config) +
                     commits(config) + failures(config) + outages(config) + drains(config);
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

}  // namespace laneway::app
