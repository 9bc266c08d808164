// The right to work on topics for a group. One process has the right at a time: the process that asked last.
//
// Kafka has no locks, but it assigns each partition of a group to one member, and accepts commits from
// members only. A claim is therefore a member that is assigned all partitions of the topics and fetches none
// of them: records are read elsewhere (topic_reader.h). When another process joins, Kafka asks the first
// member to give its partitions back, and admits the new member afterwards. So the first process finishes and
// commits its current work before the second process begins. If several processes join at the same moment,
// the process that is assigned the first partition stays, and the others give way. A process that was killed
// is forgotten after `forgotten_after`.
//
// Ownership: owns a client handle. Threads: one at a time. Blocks: each call up to its deadline; the
// destructor, which leaves the group, for a few seconds. Errors: unavailable, configuration, fatal, timeout.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kafka/types.h"

struct rd_kafka_op_s;  // an event

namespace laneway::kafka {

class GroupClaim {
 public:
  static constexpr Duration forgotten_after = seconds(10);

  /// Begins to join the group `group.id`. `partitions`: all partitions of all topics of the group.
  static Result<std::unique_ptr<GroupClaim>> open(const ClientSettings& settings,
                                                  const std::vector<TopicPartition>& partitions);
  ~GroupClaim();

  enum class Taken { yes, not_yet, given_way };
  /// Waits until all partitions are assigned.
  Result<Taken> take(Deadline deadline);
  /// Whether all partitions are still assigned. Must be called every few seconds at least, because these
  /// calls keep the member alive in the group. Once the result is false, it stays false: work that was begun
  /// may still be committed, and then the claim must be destroyed.
  bool held();
  /// Returns when the broker has acknowledged the commit.
  Status commit(const CommittedOffset& offset, Deadline deadline);

 private:
  enum class State { joining, held, lost, leaving };

  GroupClaim(HandlePtr handle, std::string group, std::vector<TopicPartition> partitions);
  Status join();
  void serve(rd_kafka_op_s& event);
  void judge(std::vector<TopicPartition> given);
  void leave();

  const std::string group_;
  std::vector<TopicPartition> wanted_;  // sorted
  State state_ = State::joining;
  bool owes_answer_ = false;    // partitions must be given back
  std::optional<Error> error_;  // an error that waiting does not resolve
  HandlePtr handle_;
  QueuePtr events_;  // the queues are destroyed before the handle
  QueuePtr commits_;
};

}  // namespace laneway::kafka
