// The right to work on topics for a group, which one process has at a time: the one that asked last.
//
// Kafka has no locks, but it gives each partition of a group to one member, and takes commits from members
// only. So a claim is a member that is given all partitions of the topics and fetches none of them: what is
// read is read elsewhere (topic_reader.h). When another one joins, Kafka asks the first to give its
// partitions back, and lets the other in when it has. So the first finishes and commits what it is about
// before the second begins. Of those that join at the same moment, the one that is given the first partition
// stays, and the others give way. A process that was killed is forgotten after `forgotten_after`.
//
// Ownership: owns a client handle. Threads: one at a time. Blocks: each call up to its deadline, the
// destructor, which leaves the group, a few seconds. Errors: unavailable, configuration, fatal, timeout.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kafka/types.h"

namespace laneway::kafka {

class GroupClaim {
 public:
  static constexpr Duration forgotten_after = seconds(10);

  /// Begins to join the group `group.id`. `partitions`: all of them, of all its topics.
  static Result<std::unique_ptr<GroupClaim>> open(const ClientSettings& settings,
                                                  const std::vector<TopicPartition>& partitions);
  ~GroupClaim();

  enum class Taken { yes, not_yet, given_way };
  /// Waits until all partitions are given.
  Result<Taken> take(Deadline deadline);
  /// Whether they still are. To be asked every few seconds at least: that is how the group knows that we
  /// live. Once false it stays so; what was begun may still be committed, then the claim is to be destroyed.
  bool held();
  /// Returns when the broker has acknowledged it.
  Status commit(const CommittedOffset& offset, Deadline deadline);

 private:
  class Implementation;
  explicit GroupClaim(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::kafka
