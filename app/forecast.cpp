#include "app/forecast.h"

#include <algorithm>

#include "config/rules/retry_topics.h"
#include "config/units.h"
#include "handler/registry.h"
#include "lane/member/memory_plan.h"
#include "service/process_limits.h"
#include "service/process_threads.h"

namespace laneway::app {
namespace {

constexpr Duration after_drain = seconds(5);

std::string count(std::uint64_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + ' ' + (number == 1 ? one : many);
}

/// Whole MiB or KiB: a forecast is no exact figure.
std::string rounded_size(std::uint64_t bytes) {
  const std::uint64_t unit = bytes >= (8ULL << 20) ? 1ULL << 20 : 1ULL << 10;
  return config::print_size(bytes / unit * unit);
}

std::string basis(const Cluster& cluster) {
  const auto what = count(cluster.partitions, "partition", "partitions") + " on " +
                    count(cluster.brokers, "broker", "brokers");
  return cluster.known ? "with " + what + ":\n" : "with " + what + " (assumed; --connect asks):\n";
}

std::string memory(const config::Config& config, const Cluster& cluster) {
  const auto plan =
      lane::plan_memory(config.lanes.memory, cluster.partitions, cluster.brokers, config.consumers);
  return "  memory: records take at most about " + rounded_size(plan.total) + "; of each partition " +
         rounded_size(plan.fetch.queued_max_kbytes * 1024) + " or " +
         std::to_string(plan.fetch.queued_min_messages) + " records fetched ahead, and " +
         rounded_size(plan.lane_bytes) + " taken and not finished\n";
}

std::string threads(const config::Config& config, const Cluster& cluster) {
  const auto expected = service::expected_threads(config, cluster.partitions, cluster.brokers);
  const auto all = "  threads: at most about " + std::to_string(expected.all);
  if (expected.workers == 0)
    return all + ", of which " + count(expected.senders, "sends", "send") + " everything\n";
  return all + ", of which " + std::to_string(expected.workers) + " workers (" +
         std::to_string(config.lanes.workers) +
         " a partition; idle ones end), when this process has all partitions\n";
}

std::string open_files(const config::Config& config, const Cluster& cluster) {
  const auto expected = service::expected_descriptors(config, cluster.partitions, cluster.brokers);
  return "  open files: at most about " + std::to_string(expected.all) + ", connections included\n";
}

std::string records(const config::Config& config) {
  const auto& lanes = config.lanes;
  return "  each partition: at most " + count(lanes.workers, "record", "records") + " at work and " +
         std::to_string(lanes.queue) + " waiting; then its lane holds, and after " +
         config::print_duration(lanes.pause_after) + " pauses fetching\n";
}

/// A batch is filled by the records that are at work, of all partitions.
std::string requests(const config::Config& config) {
  const auto requests = handler::resources_of(config.handler).requests;
  if (!requests) return "";
  std::string text = "  requests: at most " + std::to_string(requests->at_once) + " at a time";
  if (requests->batch == 0) return text + ", one a record\n";
  const bool one_each = config.lanes.order == config::Order::partition;
  return text + ", of up to " + count(requests->batch, "record", "records") +
         " each, of which a partition has " +
         (one_each ? "1 (lanes.order: partition)"
                   : "up to " + std::to_string(config.lanes.workers) + " (lanes.workers)") +
         "\n";
}

std::string commits(const config::Config& config) {
  return "  commits: after " + config::print_duration(config.commit.interval) + " or " +
         count(config.commit.every, "record", "records") + ", whichever is first, for each of " +
         count(config.consumers, "member", "members") + "\n";
}

/// The further attempts; empty where there are none.
std::string later_attempts(const config::Config& config) {
  std::string text;
  for (const auto& delay : config.retry.topics)
    text += (text.empty() ? "" : ", ") + config::retry_topic("{topic}", delay);
  return text.empty() ? text : "one more in each of " + text + " after its delay, then ";
}

std::string failures(const config::Config& config) {
  const auto& retry = config.retry;
  if (!config.dead_letter.enabled())
    return "  failures: a record is retried forever and its partition commits nothing beyond it; "
           "retry.attempts counts only with dead_letter\n";
  return "  failures: " + count(retry.attempts, "attempt", "attempts") +
         " at a record that fails while others succeed, with at most " +
         config::print_duration(retry.max_elapsed) + " between them in all, then " + later_attempts(config) +
         "it goes to " + config.dead_letter.topic + "\n";
}

std::string outages(const config::Config& config) {
  const auto& breaker = config.breaker;
  if (breaker.failures == 0)
    return "  outages: none is recognised (breaker.failures: 0); each failure counts against its record\n";
  return "  outages: when " + count(breaker.failures, "record fails", "different records fail") +
         " in a row, or half of those in " + config::print_duration(breaker.window) +
         ", all lanes hold, no attempt counts, and every " + config::print_duration(breaker.probe) +
         " another record asks whether the downstream is back\n";
}

std::string drains(const config::Config& config) {
  const auto drain = config.lanes.drain;
  return "  drain: at most " + config::print_duration(drain) +
         " on a rebalance and on SIGTERM; the process has ended " +
         config::print_duration(drain + after_drain) +
         " after a SIGTERM, so a supervisor must wait longer (TimeoutStopSec)\n";
}

}  // namespace

std::string forecast(const config::Config& config, const Cluster& cluster) {
  std::string text = basis(cluster) + memory(config, cluster) + threads(config, cluster) +
                     open_files(config, cluster) + records(config) + requests(config) + commits(config) +
                     failures(config) + outages(config) + drains(config);
  if (config.consumers > cluster.partitions)
    text += "  members: " + std::to_string(config.consumers - cluster.partitions) + " of " +
            std::to_string(config.consumers) + " would have no partition\n";
  return text;
}

std::uint64_t named_brokers(const config::Config& config) {
  const std::string& servers = config.client("bootstrap.servers");
  return 1 + static_cast<std::uint64_t>(std::count(servers.begin(), servers.end(), ','));
}

}  // namespace laneway::app
