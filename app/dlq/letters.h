// The dead letters of the topics that a command is about, one after the other, each topic up to where it
// ended when it was asked.
//
// Ownership: owns its clients. Threads: one. Blocks: open() and each call up to start_deadline of the
// configuration; next() up to its deadline. Errors: unavailable, usage, configuration.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/dlq/letter.h"
#include "base/result.h"
#include "config/config.h"
#include "kafka/admin/directory.h"
#include "kafka/admin/group_claim.h"
#include "kafka/admin/topic_reader.h"

namespace laneway::dlq {

/// Where records may go, by topic; without partitions it says why none can.
struct Target {
  std::int32_t partitions = 0;
  std::string trouble;
  /// What has an older timestamp would be deleted by the topic's retention; nothing: not known, or never.
  std::optional<std::int64_t> oldest{};
};
using Targets = std::map<std::string, Target>;

class Letters {
 public:
  /// `topics`: dead-letter topics, all of which must be there; none: those of the configuration, of which one
  /// must. `group`: whose offsets tell what was sent back.
  static Result<std::unique_ptr<Letters>> open(const config::Config& config,
                                               const std::vector<std::string>& topics,
                                               const std::string& group);

  /// In the order of the command line, then of the numbers.
  const std::vector<kafka::TopicPartition>& partitions() const { return partitions_; }
  /// Of the configuration, but not there (yet).
  const std::vector<std::string>& missing() const { return missing_; }
  Result<kafka::PartitionSpan> span(const kafka::TopicPartition& partition);
  /// The right to send these letters back, which one process has at a time: one that has it finishes what it
  /// is about, and gives way. Waits for that up to start_deadline, and says so on standard error; nullptr
  /// when `stop` turns true before, or where another one began at the same moment and goes on.
  Result<std::unique_ptr<kafka::GroupClaim>> claim(const std::atomic<bool>& stop);
  /// What the group has committed.
  Result<std::vector<kafka::CommittedOffset>> committed();
  /// Partitions of a topic that must be there.
  Result<std::int32_t> partitions_of(const std::string& topic);
  /// The topics of a subscription as targets of a redrive; one that is missing says so.
  Result<Targets> targets(const std::vector<std::string>& subscription);

  Status start(const kafka::PartitionSpan& span);
  struct Next {
    std::optional<Letter> letter;  ///< Nothing: none came until the deadline, or the span is at its end.
    bool at_end = false;
  };
  /// Unavailable when none has come for start_deadline.
  Result<Next> next(Deadline deadline);

 private:
  Letters(const config::Config& config, const std::string& group);

  Status find(const std::vector<std::string>& topics);
  Status find_configured(const config::Config& config);
  Target target(const std::string& topic, std::int32_t partitions);

  const Duration patience_;
  const kafka::ClientSettings settings_;
  std::unique_ptr<kafka::Directory> directory_;
  std::unique_ptr<kafka::TopicReader> reader_;
  std::vector<kafka::TopicPartition> partitions_;
  std::vector<std::string> missing_;
  TimePoint heard_;
};

}  // namespace laneway::dlq
