#include "service/topics/forward_topics.h"

#include <algorithm>
#include <set>

#include "config/checks/checks.h"
#include "config/pools/parking.h"
#include "config/units.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

using Topics = std::vector<kafka::TopicInfo>;

/// Whoever looks after the dead letters should have a weekend for it.
constexpr Duration short_retention = std::chrono::hours(72);

Error compacted(const ForwardTopic& topic) {
  return {ErrorKind::configuration,
          std::string(topic.kind()) + ' ' + topic.name +
              " is compacted (cleanup.policy): the brokers refuse records without a key there, which would "
              "hold their partition, and keep only the last record of each key",
          "set its cleanup.policy to delete: kafka-configs.sh --bootstrap-server HOST:PORT --alter --topic " +
              topic.name + " --add-config cleanup.policy=delete"};
}

/// Empty if the topic keeps records for long enough.
std::string loss(const ForwardTopic& topic, Duration retention) {
  if (topic.delay && retention <= *topic.delay)
    return "retry topic " + topic.name + " keeps records for " + config::print_duration(retention) +
           " (retention.ms), and they wait there for " + config::print_duration(*topic.delay) +
           ": the brokers may delete a record before it runs again; set a longer retention.ms";
  if (!topic.delay && retention < short_retention)
    return "dead-letter topic " + topic.name + " keeps dead letters for only " +
           config::print_duration(retention) +
           " (retention.ms); set a longer retention.ms, or -1 for forever";
  return "";
}

/// A dead letter stays until someone deletes it. A record of a retry topic stays for its delay longer than a
/// record of its source, if records of the source are deleted at all.
std::optional<Duration> retention_for(const ForwardTopic& topic, kafka::Directory& directory,
                                      Duration timeout) {
  if (!topic.delay) return {};
  auto retention = directory.retention(topic.source.name, timeout);
  if (retention) *retention += *topic.delay;
  return retention;
}

Status create(const config::Config& config, const ForwardTopic& topic, kafka::Directory& directory,
              Deadline deadline) {
  const bool allowed = topic.delay ? config.retry.create : config.dead_letter.create;
  if (!allowed)
    return Error{
        ErrorKind::unavailable, std::string(topic.kind()) + ' ' + topic.name + " does not exist",
        std::string("create it, or set ") + (topic.delay ? "retry" : "dead_letter") + ".create: true"};
  const auto retention = retention_for(topic, directory, deadline.left());
  if (auto status = directory.create(topic.name, topic.source.partitions, retention, deadline.left());
      !status)
    return status;
  telemetry::info(std::string(topic.kind()) + " created",
                  {{"topic", topic.name}, {"partitions", topic.source.partitions}});
  return {};
}

}  // namespace

std::vector<ForwardTopic> forward_topics(const config::Config& config, const Topics& sources) {
  std::vector<ForwardTopic> topics;
  const auto delays = config::retry_delays(config);
  std::set<std::string> names;
  const auto add = [&](std::string name, const kafka::TopicInfo& source, std::optional<Duration> delay) {
    if (names.insert(name).second) topics.push_back({std::move(name), source, delay});
  };
  for (const auto& source : sources) {
    for (const auto& delay : delays) add(delay.topic_of(source.name), source, delay.duration);
    if (config.dead_letter.enabled())
      add(config::topic_from_template(config.dead_letter.topic, source.name), source, {});
  }
  return topics;
}

std::vector<std::string> names_of(const std::vector<ForwardTopic>& topics) {
  std::vector<std::string> names;
  for (const auto& topic : topics) names.push_back(topic.name);
  return names;
}

ForwardVerdict judge_forward_topics(const std::vector<ForwardTopic>& topics,
                                    const std::map<std::string, kafka::TopicLimits>& limits) {
  ForwardVerdict verdict;
  for (const auto& topic : topics) {
    const auto found = limits.find(topic.name);
    if (found == limits.end()) continue;
    if (found->second.compacted && !verdict.refusal) verdict.refusal = compacted(topic);
    if (!found->second.retention) continue;
    if (auto warning = loss(topic, *found->second.retention); !warning.empty())
      verdict.warnings.push_back(std::move(warning));
  }
  return verdict;
}

bool park_nothing(config::Config& config, const Error& refused) {
  if (!config.retry.topics.empty() || !config::parks(config)) return false;
  const auto topics = config::retry_topics(config);
  const bool only_these = std::any_of(topics.begin(), topics.end(), [&](const std::string& topic) {
    return refused.text().find(topic) != std::string::npos;
  });
  if (!only_these) return false;
  config.lanes.park_after = Duration::zero();
  telemetry::warn("no record is parked",
                  {{"error", refused.text()},
                   {"hint",
                    "a pool or subscriber that is out can stop the others of its partitions: let the service "
                    "create, read and write its retry topics, or set lanes.park_after: 0s"}});
  return true;
}

std::vector<std::string> unread_retry_topics(const config::Config& config, kafka::Directory& directory,
                                             Duration timeout) {
  std::vector<std::string> warnings;
  const auto unread = config::unread_topics_of_parked(config);
  if (unread.empty()) return warnings;
  const auto found = directory.existing(unread, timeout);
  if (!found) return warnings;
  const bool parks = config::parks(config);
  const auto why = parks ? "records are parked in the topics of retry.topics"
                         : "no record is parked (" + config::not_parked_because(config) + ")";
  for (const auto& [name, topic] : *found)
    warnings.push_back("retry topic " + name + " is not read, because " + why +
                       "; if parked records are left there, " +
                       (parks ? "take retry.topics out" : "park records again") +
                       " until the topic has no lag; then delete the topic");
  return warnings;
}

delivery::RetrySteps retry_steps(const config::Config& config) {
  delivery::RetrySteps steps;
  const auto delays = config::retry_delays(config);
  if (delays.empty()) return steps;
  for (const auto& source : config.topics) {
    std::vector<std::pair<std::string, Duration>> topics;
    for (const auto& delay : delays) topics.emplace_back(delay.topic_of(source), delay.duration);
    steps.add(source, topics, {.failed = !config.retry.topics.empty(), .parked = config::parks(config)});
  }
  return steps;
}

Result<std::map<std::string, std::int32_t>> find_forward_topics(const config::Config& config,
                                                                const Topics& sources,
                                                                kafka::Directory& directory, Duration timeout,
                                                                bool consumes) {
  const auto deadline = Deadline::in(timeout);
  const auto topics = forward_topics(config, sources);
  const auto found = directory.existing(names_of(topics), deadline.left());
  if (!found) return found.error();
  std::map<std::string, std::int32_t> partitions;
  std::vector<std::string> existing;
  for (const auto& topic : topics) {
    const auto known = found->find(topic.name);
    partitions[topic.name] = known == found->end() ? topic.source.partitions : known->second.partitions;
    if (known != found->end())
      existing.push_back(topic.name);
    else if (auto status = create(config, topic, directory, deadline); !status)
      return status.error();
  }
  const auto verdict = judge_forward_topics(topics, directory.limits(existing, deadline.left() / 2));
  if (verdict.refusal && !consumes) return *verdict.refusal;
  if (verdict.refusal) telemetry::error("a topic cannot take records", {{"error", verdict.refusal->text()}});
  for (const auto& warning : verdict.warnings) telemetry::warn("a topic loses records", {{"error", warning}});
  return partitions;
}

}  // namespace laneway::service
