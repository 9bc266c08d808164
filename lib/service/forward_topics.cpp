#include "service/forward_topics.h"

#include <algorithm>
#include <optional>

#include "config/rules/checks.h"
#include "config/rules/retry_topics.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

using Topics = std::vector<kafka::TopicInfo>;

class Search {
 public:
  Search(kafka::Directory& directory, Deadline deadline) : directory_(directory), deadline_(deadline) {}

  /// `source`: the topic is created with as many partitions as `source`, and is kept `longer` than `source`,
  /// if records are deleted at all; without `longer` it is kept forever.
  Status find(const std::string& what, const std::string& name, const std::string& allowed_by, bool allowed,
              const kafka::TopicInfo& source, std::optional<Duration> longer) {
    const auto found = directory_.find(name, deadline_.left());
    if (!found) return found.error();
    partitions[name] = *found ? (**found).partitions : source.partitions;
    if (*found) return {};
    if (!allowed)
      return Error{ErrorKind::unavailable, what + " " + name + " does not exist",
                   "create it, or set " + allowed_by + ": true"};
    std::optional<Duration> retention;
    if (longer) retention = directory_.retention(source.name, deadline_.left());
    if (retention) *retention += *longer;
    if (auto status = directory_.create(name, source.partitions, retention, deadline_.left()); !status)
      return status;
    telemetry::info(what + " created", {{"topic", name}, {"partitions", source.partitions}});
    return {};
  }

  std::map<std::string, std::int32_t> partitions;

 private:
  kafka::Directory& directory_;
  const Deadline deadline_;
};

Status find_dead_letter_topic(Search& search, const config::DeadLetter& settings, const Topics& sources,
                              const kafka::TopicInfo& source) {
  const auto name = config::topic_from_template(settings.topic, source.name);
  if (std::any_of(sources.begin(), sources.end(), [&](const auto& t) { return t.name == name; }))
    return Error{ErrorKind::configuration,
                 "dead_letter.topic: the dead letters of " + source.name + " would go to " + name +
                     ", which `topics` also matches",
                 "use a pattern that leaves the dead-letter topic out, or another name"};
  return search.find("dead-letter topic", name, "dead_letter.create", settings.create, source, {});
}

}  // namespace

delivery::RetryStages retry_stages(const config::Config& config) {
  delivery::RetryStages stages;
  if (config.retry.topics.empty()) return stages;
  for (const auto& source : config.topics) {
    std::vector<std::pair<std::string, Duration>> topics;
    for (const auto& delay : config.retry.topics)
      topics.emplace_back(config::retry_topic(source, delay), delay.duration);
    stages.add(source, topics);
  }
  return stages;
}

Result<std::map<std::string, std::int32_t>> find_forward_topics(const config::Config& config,
                                                                const Topics& sources,
                                                                kafka::Directory& directory,
                                                                Duration timeout) {
  Search search(directory, Deadline::in(timeout));
  for (const auto& source : sources) {
    for (const auto& delay : config.retry.topics)
      if (auto status = search.find("retry topic", config::retry_topic(source.name, delay), "retry.create",
                                    config.retry.create, source, delay.duration);
          !status)
        return status.error();
    if (!config.dead_letter.enabled()) continue;
    if (auto status = find_dead_letter_topic(search, config.dead_letter, sources, source); !status)
      return status.error();
  }
  return std::move(search.partitions);
}

}  // namespace laneway::service
