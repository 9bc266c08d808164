// The topics to which the service writes records that failed: retry topics and dead-letter topics. They must
// exist and be usable before a record is consumed, or a failed record would hold its lane. Missing topics are
// created if the configuration allows it (retry.create, dead_letter.create).
//
// Threads: any; find_forward_topics() blocks up to its time-out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "delivery/retry/retry_steps.h"
#include "kafka/admin/directory.h"

namespace laneway::service {

struct ForwardTopic {
  std::string name;
  kafka::TopicInfo source;        ///< the consumed topic whose records go there
  std::optional<Duration> delay;  ///< of a retry topic; nullopt for a dead-letter topic

  const char* kind() const { return delay ? "retry topic" : "dead-letter topic"; }
};

/// The retry topics and the dead-letter topic of each source; each name once.
std::vector<ForwardTopic> forward_topics(const config::Config& config,
                                         const std::vector<kafka::TopicInfo>& sources);
std::vector<std::string> names_of(const std::vector<ForwardTopic>& topics);

/// What the settings of these topics mean for the records that are written there.
struct ForwardVerdict {
  std::optional<Error> refusal;       ///< a topic cannot work
  std::vector<std::string> warnings;  ///< a topic loses records
};
/// `limits`: of the topics whose settings are known. Pure.
ForwardVerdict judge_forward_topics(const std::vector<ForwardTopic>& topics,
                                    const std::map<std::string, kafka::TopicLimits>& limits);

/// If the brokers refuse a topic that only parked records need, and that nobody has named: parks nothing any
/// more, logs that, and returns true.
bool park_nothing(config::Config& config, const Error& refused);

/// Warnings about retry topics that exist, and that the service does not read, because it does not park
/// records any more. None if the brokers do not answer.
std::vector<std::string> unread_retry_topics(const config::Config& config, kafka::Directory& directory,
                                             Duration timeout);

/// The steps of every topic, by the configuration; empty if retry topics are not configured. Pure.
delivery::RetrySteps retry_steps(const config::Config& config);

/// The number of partitions of each retry topic and each dead-letter topic, for `sources` (the consumed
/// topics). Missing topics are created with as many partitions as their source. Unavailable, with the cause,
/// if a topic is missing and may not be created, or if brokers do not answer or refuse; configuration, if a
/// topic cannot work. Logs what loses records. `consumes`: the service has consumed with these topics, so one
/// that cannot work any more is logged: its lanes report it when they need it, and the others go on.
Result<std::map<std::string, std::int32_t>> find_forward_topics(const config::Config& config,
                                                                const std::vector<kafka::TopicInfo>& sources,
                                                                kafka::Directory& directory, Duration timeout,
                                                                bool consumes);

}  // namespace laneway::service
