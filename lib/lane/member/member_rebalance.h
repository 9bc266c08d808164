// What a member does when partitions come and go: carries out the steps of the rebalance machine on the
// client, the lanes and the commits.
//
// Assigned partitions wait for their committed offsets (with the completion maps), then start; revoked
// partitions drain, commit, and are given back; rebalance_machine.h decides the order.
//
// Ownership: the loop owns this; what the constructor takes by reference outlives it. Threads: one, the
// loop's. Nothing blocks.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kafka/group/consumer.h"
#include "lane/member/loop_mailbox.h"
#include "lane/member/loop_stats.h"
#include "lane/member/member_commits.h"
#include "lane/member/member_health.h"
#include "lane/member/member_lanes.h"
#include "lane/member/rebalance_machine.h"
#include "lane/source/partition_source.h"

namespace laneway::lane {

/// Opens the records of a partition. `on_ready` is called on any thread when records are available.
using OpenSource = std::function<std::unique_ptr<PartitionSource>(
    kafka::Consumer& consumer, const kafka::TopicPartition& partition, std::function<void()> on_ready)>;

class MemberRebalance final : public RebalanceSteps {
 public:
  MemberRebalance(kafka::Consumer& consumer, OpenSource open_source, MemberLanes& lanes,
                  MemberCommits& commits, MemberHealth& health, const LoopMailbox& mailbox, LoopStats& stats);

  /// The time of all steps until the next turn.
  void begin_turn(TimePoint now) { now_ = now; }
  /// All lanes that stay repeat the work that is not committed.
  void start_over();

  void ask_committed(std::uint64_t request, const Partitions& partitions) override;
  void assign(const std::vector<kafka::CommittedOffset>& from) override;
  void unassign(const Partitions& partitions, bool all) override;
  void drain(const Partitions& lanes, TimePoint deadline) override;
  void cancel(const Partitions& lanes) override;
  bool drained(const kafka::TopicPartition& lane) override;
  void end(const Partitions& lanes, bool given_up) override;
  bool commit_blocked(TimePoint since) const override;
  bool commit(const Partitions& lanes) override;
  bool commit_under_way() const override { return commits_.under_way(); }
  bool refused_for_now(const Partitions& lanes) const override;
  void forget_commit() override { (void)commits_.forget(); }
  void drained_after(Duration took) override { stats_.drain.record(took); }

 private:
  void note_uncommitted(const Lane& lane);
  void end_lane(MemberLane& lane, Lane::Ending ending);

  kafka::Consumer& consumer_;
  const OpenSource open_source_;
  MemberLanes& lanes_;
  MemberCommits& commits_;
  MemberHealth& health_;
  const LoopMailbox& mailbox_;
  LoopStats& stats_;
  TimePoint now_;
};

}  // namespace laneway::lane
