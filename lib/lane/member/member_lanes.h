// The lanes of one member: which there are, which have work, when each is due, and those that have ended
// while handlers of theirs are still at work.
//
// A lane is worked when something signalled it, and ticked when its time has come: with many lanes most need
// neither. What has been worked since its last commit is kept apart for the same reason.
//
// Ownership: owns the lanes, and shares each with those that read its numbers; `context` and `signal` outlive
// this. Threads: the loop's calls everything except published(), which any may call. The lanes' `on_ready`
// runs on any thread, and only until the lane is buried. Nothing blocks except bury(), for a tenth of a
// second.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/signal.h"
#include "kafka/types.h"
#include "lane/lane.h"

namespace laneway::lane {

/// A lane with what is kept beside it.
struct MemberLane {
  std::shared_ptr<Lane> lane;
  std::function<void()> on_ready;
  std::atomic<bool> signalled{false};
  bool ready = false;
  bool leaving = false;                                    // it drains, and is committed when it has drained
  bool ended = false;                                      // its handlers may still be at work
  bool refused_for_now = false;                            // its last commit, for a reason that passes
  bool worked = false;                                     // since its last commit
  std::multimap<TimePoint, MemberLane*>::iterator tick{};  // while it has not ended
};

class MemberLanes {
 public:
  MemberLanes(const LaneContext& context, Signal& signal) : context_(context), signal_(signal) {}

  /// A lane that begins at `start`; it needs a source before anything else.
  MemberLane& add(const kafka::CommittedOffset& start, TimePoint now);
  MemberLane* find(const kafka::TopicPartition& partition) const;
  std::vector<MemberLane*> all() const;
  std::vector<MemberLane*> of(const std::vector<kafka::TopicPartition>& partitions) const;
  /// Those that may have something to commit, without those that are leaving.
  std::vector<MemberLane*> worked() const;
  void nothing_to_commit(MemberLane& lane);
  /// The number of records that were abandoned.
  std::uint64_t end(MemberLane& lane, Lane::Ending ending, TimePoint now);

  /// Someone has signalled, or a lane has more to do at once.
  bool any_ready() const { return !ready_.empty() || any_signalled_.load(std::memory_order_acquire); }
  void make_ready(MemberLane& lane);
  void tick_at(MemberLane& lane, TimePoint at);
  std::optional<TimePoint> next_tick() const;
  /// One run of records for each lane that is ready: a busy lane does not keep the others waiting.
  void work(TimePoint now);
  /// The lanes that are due. `on_demand` gets what a lane asks for because its partition is silent.
  void tick(TimePoint now, const std::function<void(const LaneSilence::Demand&)>& on_demand);

  /// Works a lane that is leaving; true when nothing of it is at work any more.
  bool drained(MemberLane& lane, TimePoint now);

  /// Records completed since the last commit began.
  std::uint64_t completed() const { return completed_; }
  /// A lane does not want to wait until commits are due.
  bool commit_wanted() const { return commit_wanted_; }
  void commit_begins();

  /// Lets go of ended lanes whose handlers have returned, and that no list knows any more.
  void bury(TimePoint now);
  bool all_buried() const { return ended_.empty(); }
  /// Ended lanes whose handlers have returned, and whose threads are about to end.
  bool any_ending() const;
  /// At the end of the loop: waits for the handlers.
  void clear_ended() { ended_.clear(); }

  void publish() EXCLUDES(mutex_);
  std::vector<std::shared_ptr<const Lane>> published() const EXCLUDES(mutex_);

 private:
  void take_signalled() EXCLUDES(mutex_);
  void after_work(MemberLane& lane);

  const LaneContext& context_;
  Signal& signal_;
  std::map<kafka::TopicPartition, std::unique_ptr<MemberLane>> lanes_;
  bool changed_ = false;                            // since they were published
  std::multimap<TimePoint, MemberLane*> ticks_;     // the next one of each lane
  std::vector<std::unique_ptr<MemberLane>> ended_;  // not buried yet
  std::vector<MemberLane*> ready_;
  std::set<MemberLane*> worked_;
  std::uint64_t completed_ = 0;
  bool commit_wanted_ = false;
  std::atomic<bool> any_signalled_{false};
  mutable Mutex mutex_;
  std::vector<MemberLane*> signalled_ GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const Lane>> published_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
