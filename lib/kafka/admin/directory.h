// Questions to a cluster outside any group membership: which partitions topics have, what a group has
// committed.
//
// Ownership: a Directory owns a client handle of its own. Threads: one at a time. Calls block up to their
// deadline.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kafka/types.h"

namespace laneway::kafka {

struct TopicInfo {
  std::string name;
  std::int32_t partitions = 0;
};

class Directory {
 public:
  /// What `readable` may be given at most: a leader that is silent for longer should not keep the partitions
  /// of others waiting.
  static constexpr Duration longest_refusal = seconds(10);

  /// Fails when the settings are wrong; brokers are not contacted yet.
  static Result<std::unique_ptr<Directory>> open(const ClientSettings& settings);
  ~Directory();

  /// The topics of a subscription (names, or one pattern that starts with ^) with their partitions, in the
  /// order of the names. Unavailable are: brokers that do not answer, a refused login, a topic that is
  /// missing or that the user may not describe; each is told as what it is. A pattern that matches nothing
  /// yields nothing, and nothing tells topics that it would match from those that the user may not describe.
  Result<std::vector<TopicInfo>> topics(const std::vector<std::string>& subscription, Duration timeout);
  /// One topic; nothing when it does not exist. Unavailable as above.
  Result<std::optional<TopicInfo>> find(const std::string& name, Duration timeout);
  /// With the brokers' default replication; records are kept for `retention`, nothing: for ever (the brokers'
  /// own would delete at once what keeps an old timestamp). One that exists is left as it is. Unavailable
  /// where it is refused.
  Status create(const std::string& name, std::int32_t partitions, std::optional<Duration> retention,
                Duration timeout);
  std::size_t brokers() const { return brokers_; }
  /// The id that the cluster gave itself; empty when it does not tell within `timeout`.
  std::string cluster(Duration timeout);

  /// Whether the user may read these topics. The brokers are asked for what comes after the end of one
  /// partition of each topic. Unavailable where a broker refuses. No answer within `timeout` is no refusal,
  /// so `timeout` should leave a busy broker the time to refuse. Returns soon after `given_up` says so.
  Status readable(
      const std::vector<TopicInfo>& topics, Duration timeout,
      const std::function<bool()>& given_up = [] { return false; });

  /// A configuration error where the settings ask for group.protocol: consumer and a broker, of those that
  /// `topics` found, does not have it or has it switched off. No error where it does not tell the user its
  /// settings (DescribeConfigs), or not within `timeout`.
  Status offers_protocol(Duration timeout);

  /// How long the topic's records are kept, counted from their own timestamps. Nothing where another clock
  /// counts, they are kept for ever, or it is not told (the user lacks DescribeConfigs).
  std::optional<Duration> retention(const std::string& topic, Duration timeout);

  /// What the group of the settings has committed, with metadata. A group that the user may not describe is
  /// unavailable; that joining needs Read besides shows only when it is tried.
  Result<std::vector<CommittedOffset>> committed(const std::vector<TopicPartition>& partitions,
                                                 Duration timeout);

 private:
  class Implementation;
  explicit Directory(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
  std::size_t brokers_ = 0;
};

}  // namespace laneway::kafka
