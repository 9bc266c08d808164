// The dead letters of the topics that a command is about, one after the other, each partition up to its end
// at the time of the question.
//
// Ownership: owns its clients. Threads: one. Blocks: open() and span() for up to 8 s, and every call for up
// to start_deadline of the configuration; next() up to its deadline. Errors: unavailable, usage,
// configuration.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/dlq/letter.h"
#include "app/dlq/sent_back.h"
#include "base/result.h"
#include "config/config.h"
#include "kafka/admin/directory.h"
#include "kafka/admin/group_claim.h"
#include "kafka/admin/topic_reader.h"
#include "lane/commit/stored_commit.h"

namespace laneway::dlq {

/// A topic to which records may be sent; with 0 partitions, `trouble` says why it cannot take records.
struct Target {
  std::int32_t partitions = 0;
  std::string trouble;
  /// The topic's retention would delete records with an older timestamp. nullopt if unknown or unlimited.
  std::optional<std::int64_t> oldest{};
};
using Targets = std::map<std::string, Target>;

class Letters {
 public:
  /// `topics`: dead-letter topics, all of which must exist; empty: the topics of the configuration, of which
  /// one must exist. `group`: the group whose offsets say which letters were sent back.
  static Result<std::unique_ptr<Letters>> open(const config::Config& config,
                                               const std::vector<std::string>& topics,
                                               const std::string& group);

  /// In the order of the command line, then by number.
  const std::vector<kafka::TopicPartition>& partitions() const { return partitions_; }
  /// Topics of the configuration that do not exist (yet).
  const std::vector<std::string>& missing() const { return missing_; }
  Result<kafka::PartitionSpan> span(const kafka::TopicPartition& partition);
  /// The right to send these letters back, which one process has at a time. A process that has the right
  /// finishes the records that it is sending, and gives way. Waits for that up to start_deadline, with a
  /// message on standard error. Returns nullptr if `stop` turns true before, or if another process began at
  /// the same moment and goes on.
  Result<std::unique_ptr<kafka::GroupClaim>> claim(const std::atomic<bool>& stop);
  /// The commits of the group. Blocks for up to `at_most`, and start_deadline.
  Result<std::vector<lane::StoredCommit>> committed(Duration at_most = Duration::max());
  /// Which letters of these spans were sent back. Blocks for up to 5 s.
  Result<SentBack> sent_back(const std::vector<kafka::PartitionSpan>& spans);
  /// The number of partitions of a topic, which must exist.
  Result<std::int32_t> partitions_of(const std::string& topic);
  /// The topics that the service consumes as targets of a redrive.
  Result<Targets> targets(const config::ConsumedTopics& consumed);
  /// These topics as targets. A missing topic has 0 partitions.
  Targets targets(const std::vector<std::string>& topics);

  Status start(const kafka::PartitionSpan& span);
  struct Next {
    std::optional<Letter> letter;  ///< nullopt if no letter came until the deadline, or at the end.
    bool at_end = false;
  };
  /// Unavailable if no letter has come for start_deadline.
  Result<Next> next(Deadline deadline);

 private:
  Letters(const config::Config& config, const std::string& group);

  Status find(const std::vector<std::string>& topics);
  Status find_configured(const config::Config& config);
  Target target(const std::string& topic, std::int32_t partitions);

  const Duration patience_;        ///< start_deadline
  const Duration first_patience_;  ///< for topics and their ends, of which a person waits for an answer
  const kafka::ClientSettings settings_;
  std::unique_ptr<kafka::Directory> directory_;
  std::unique_ptr<kafka::TopicReader> reader_;
  std::vector<kafka::TopicPartition> partitions_;
  std::vector<std::string> missing_;
  TimePoint heard_;
};

}  // namespace laneway::dlq
