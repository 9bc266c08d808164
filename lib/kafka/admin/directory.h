// Queries a cluster without joining a group: which partitions topics have, and what a group has committed.
//
// Ownership: a Directory owns a client handle of its own. Threads: one at a time. Calls block up to their
// deadline.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/client/group_protocol.h"
#include "config/rules/consumed_topics.h"
#include "kafka/types.h"

struct rd_kafka_metadata_topic;
struct rd_kafka_topic_s;

namespace laneway::kafka {

class ConnectionTrouble;

struct TopicInfo {
  std::string name;
  std::int32_t partitions = 0;
};

struct TopicLimits {
  bool compacted = false;             ///< cleanup.policy contains compact, alone or with delete
  std::optional<Duration> retention;  ///< retention.ms; nullopt if records are not deleted by their age
};

struct FoundTopics {
  std::vector<TopicInfo> topics;
  std::vector<std::string> left_out;  ///< with the key that leaves it out: "orders-dlt (dead_letter.topic)"
};

class Directory {
 public:
  /// The longest time-out to use with `readable`: a leader that is silent for longer should not delay the
  /// partitions of other leaders.
  static constexpr Duration longest_refusal = seconds(10);

  /// Fails if the settings are wrong. Does not contact brokers.
  static Result<std::unique_ptr<Directory>> open(const ClientSettings& settings);
  ~Directory();

  /// These topics with their partitions. Returns an error of kind unavailable, with its cause, if brokers do
  /// not answer, the login is refused, or a topic is missing or the user may not describe the topic.
  Result<std::vector<TopicInfo>> topics(const std::vector<std::string>& names, Duration timeout);
  /// All topics, ordered by name. Topics that the user may not describe look as if they did not exist.
  Result<std::vector<TopicInfo>> all_topics(Duration timeout);
  /// The topics that a service consumes, and those that its pattern leaves out. By names, an error as from
  /// topics(); by a pattern, which may find nothing, as from all_topics().
  Result<FoundTopics> consumed(const config::ConsumedTopics& topics, Duration timeout);
  /// Those of these topics that exist, by their names. Unavailable as above.
  Result<std::map<std::string, TopicInfo>> existing(const std::vector<std::string>& names, Duration timeout);
  /// Creates a topic with the brokers' default replication. Records are kept for `retention`; nullopt keeps
  /// them forever (the brokers' own default might delete them before anyone has read them). A topic that
  /// exists is not changed. Unavailable if the brokers refuse.
  Status create(const std::string& name, std::int32_t partitions, std::optional<Duration> retention,
                Duration timeout);
  /// How many brokers the last look at all topics found.
  std::size_t brokers() const { return brokers_; }
  /// The id of the cluster; empty if no broker sends the id within `timeout`.
  std::string cluster(Duration timeout);

  /// Checks that the user may read these topics, by asking for the records after the end of one partition of
  /// each topic. Unavailable if a broker refuses. No answer within `timeout` is not a refusal, so `timeout`
  /// should leave a busy broker the time to refuse. Returns soon after `given_up` returns true.
  Status readable(
      const std::vector<TopicInfo>& topics, Duration timeout,
      const std::function<bool()>& given_up = [] { return false; });

  /// A configuration error if the brokers are to distribute the partitions, and a broker among those that
  /// `topics` found does not have this protocol or has it disabled. No error if the broker does not show its
  /// settings to the user (DescribeConfigs), or not within `timeout`.
  Status offers_protocol(Duration timeout);

  /// The settings of these topics that decide whether records stay there. Topics whose settings the user may
  /// not see (DescribeConfigs), or that no broker described within `timeout`, are missing.
  std::map<std::string, TopicLimits> limits(const std::vector<std::string>& topics, Duration timeout);

  /// How long the topic's records are kept, counted from their own timestamps. nullopt if the time counts
  /// from another clock, if records are kept forever, or if the user may not see the setting (the user lacks
  /// DescribeConfigs).
  std::optional<Duration> retention(const std::string& topic, Duration timeout);

  /// The offsets that the group of the settings has committed, with metadata. Unavailable if the user may not
  /// describe the group. Joining the group also needs the right Read, which shows only when a member joins.
  Result<std::vector<CommittedOffset>> committed(const std::vector<TopicPartition>& partitions,
                                                 Duration timeout);

 private:
  explicit Directory(const ClientSettings& settings);
  Result<MetadataPtr> metadata(rd_kafka_topic_s* only, Deadline deadline);
  Result<MetadataPtr> look_up(Deadline deadline);
  Error absent(const std::string& topic, Deadline deadline);
  bool listen(Duration timeout);
  TopicInfo noted(const rd_kafka_metadata_topic& topic);
  static void on_error(rd_kafka_s*, int code, const char* words, void* self);
  static void on_log(const rd_kafka_s* client, int level, const char* facility, const char* text);

  const std::string group_;
  const config::GroupProtocol& protocol_;
  std::size_t brokers_ = 0;
  std::int32_t broker_ = -1;  // a broker that can be asked about its own settings
  bool group_denied_ = false;
  // The client reports a refusal only once, so the refusal is kept.
  std::set<std::string> denied_topics_;
  std::set<std::string> answered_topics_;
  std::map<std::string, std::int32_t> asked_partitions_;  // for topics that were found by their names
  std::unique_ptr<ConnectionTrouble> trouble_;
  HandlePtr handle_;  // last, because it calls on_error and on_log until it is destroyed
};

}  // namespace laneway::kafka
