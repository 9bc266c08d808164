#include "config/pools/parking.h"

#include <algorithm>

#include "config/checks/checks.h"
#include "config/pools/pool_scope.h"

namespace laneway::config {
namespace {

/// The first delay passes over a short outage, and with the last one a record that waits for a long outage is
/// read and written every ten minutes only. Nobody has named these topics, and several groups may read the
/// same one: each has its own.
std::vector<RetryDelay> own_delays(const Config& config) {
  using std::chrono::minutes;
  const auto& group = config.client("group.id");
  return {{"10s", seconds(10), group}, {"1m", minutes(1), group}, {"10m", minutes(10), group}};
}

std::vector<RetryDelay> delays_of(const Config& config) {
  return config.retry.topics.empty() ? own_delays(config) : config.retry.topics;
}

std::vector<std::string> names_of(const Config& config, const std::vector<RetryDelay>& delays) {
  std::vector<std::string> names;
  for (const auto& topic : config.topics)
    for (const auto& delay : delays) names.push_back(delay.topic_of(topic));
  return names;
}

bool leads_to(const Config& config, const PoolSettings& from, const PoolSettings& to) {
  const auto* pool = &from;
  // No cycle is that long; the rules refuse cycles later.
  for (std::size_t steps = 0; pool != nullptr && steps <= config.pools.size(); ++steps) {
    if (pool->name == to.name) return true;
    pool = find_pool(config, pool->then);
  }
  return false;
}

/// A new topic that the service would consume or write already.
std::string taken_name(const Config& config) {
  for (const auto& topic : config.topics)
    for (const auto& delay : delays_of(config)) {
      const auto name = delay.topic_of(topic);
      const bool consumed =
          std::find(config.topics.begin(), config.topics.end(), name) != config.topics.end();
      const bool letters =
          config.dead_letter.enabled() && topic_from_template(config.dead_letter.topic, topic) == name;
      if (consumed || letters || !check_topic(name).empty()) return name;
    }
  return "";
}

}  // namespace

bool has_neighbours(const Config& config, const PoolSettings& pool) {
  if (pool.each.by.enabled()) return true;
  const auto stages = stages_of(config);
  return std::any_of(stages.begin(), stages.end(), [&](const PoolSettings& other) {
    return !leads_to(config, pool, other) && !leads_to(config, other, pool);
  });
}

bool has_neighbours(const Config& config) {
  const auto stages = stages_of(config);
  return std::any_of(stages.begin(), stages.end(),
                     [&](const PoolSettings& pool) { return has_neighbours(config, pool); });
}

std::string not_parked_because(const Config& config) {
  if (!has_neighbours(config)) return "no other records of a lane could go on";
  if (config.lanes.park_after == Duration::zero()) return "lanes.park_after is 0s";
  if (config.lanes.order != Order::none)
    return std::string("with lanes.order: ") + (config.lanes.order == Order::key ? "key" : "partition") +
           " later records would overtake a record that waits in a retry topic";
  if (config.topics_by_pattern())
    return "topics is a pattern, so the retry topics are not known at the start";
  const auto reset = config.client("auto.offset.reset");
  if (!reset.empty() && reset != "earliest" && reset != "smallest" && reset != "beginning")
    return "with kafka.auto.offset.reset: " + reset +
           " records that are written to a retry topic before its first commit would be skipped";
  if (!config.retry.topics.empty()) return "";
  if (!config.retry.create) return "retry.create is false, and retry.topics names no retry topics";
  if (const auto name = taken_name(config); !name.empty())
    return "the retry topic " + name + " is not possible";
  return "";
}

std::vector<RetryDelay> retry_delays(const Config& config) {
  return !config.retry.topics.empty() || parks(config) ? delays_of(config) : std::vector<RetryDelay>();
}

std::vector<std::string> retry_topics(const Config& config) { return names_of(config, retry_delays(config)); }

std::vector<std::string> unread_topics_of_parked(const Config& config) {
  if (config.topics_by_pattern()) return {};
  auto names = names_of(config, own_delays(config));
  const auto read = retry_topics(config);
  std::erase_if(names,
                [&](const auto& name) { return std::find(read.begin(), read.end(), name) != read.end(); });
  return names;
}

}  // namespace laneway::config
