// The lanes of one member: which lanes exist, which have work, when each is due, and which have ended while
// handlers of theirs are still running.
//
// A lane is worked when something signalled it, and ticked when its time has come: if there are many lanes,
// most need neither. For the same reason there is a list of the lanes that were worked since their last
// commit.
//
// Ownership: owns the lanes, and shares each with the readers of its numbers; `context` and `signal` outlive
// this. Threads: the loop's thread calls everything except published(), which any thread may call. The lanes'
// `on_ready` runs on any thread, and only until the lane is buried. Nothing blocks except bury(), for a tenth
// of a second.
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

/// A lane, and what its member notes about it.
struct MemberLane {
  std::shared_ptr<Lane> lane;
  std::function<void()> on_ready;
  std::atomic<bool> signalled{false};
  bool ready = false;
  bool leaving = false;  // the lane drains
  bool ended = false;    // the lane's handlers may still be running
  // Its last commit was refused for a temporary reason.
  bool refused_for_now = false;
  bool worked = false;                                     // since its last commit
  std::multimap<TimePoint, MemberLane*>::iterator tick{};  // while the lane has not ended
};

/// What the lanes of a member have done since its last commit began.
struct SinceCommit {
  std::uint64_t completed = 0;  ///< records
  bool wanted = false;          ///< a lane, or the member, wants a commit before commits are due
};

class MemberLanes {
 public:
  MemberLanes(const LaneContext& context, Signal& signal) : context_(context), signal_(signal) {}

  /// Adds a lane that begins at `start`; the lane needs a source before anything else.
  MemberLane& add(const StoredCommit& start, TimePoint now);
  MemberLane* find(const kafka::TopicPartition& partition) const;
  std::vector<MemberLane*> all() const;
  std::vector<MemberLane*> of(const std::vector<kafka::TopicPartition>& partitions) const;
  /// The lanes that may have something to commit.
  std::vector<MemberLane*> worked() const { return {worked_.begin(), worked_.end()}; }
  void nothing_to_commit(MemberLane& lane);
  /// Ends a lane. Returns the number of records that were abandoned.
  std::uint64_t end(MemberLane& lane, Lane::Ending ending, TimePoint now);

  /// A lane was signalled, or has more to do at once.
  bool any_ready() const { return !ready_.empty() || any_signalled_.load(std::memory_order_acquire); }
  void make_ready(MemberLane& lane);
  void tick_at(MemberLane& lane, TimePoint at);
  std::optional<TimePoint> next_tick() const;
  /// Handles one run of records for each lane that is ready, so a busy lane does not keep the others waiting.
  void work(TimePoint now) EXCLUDES(mutex_);
  /// Ticks the lanes that are due. `on_demand` gets the demand of a lane whose partition is silent.
  void tick(TimePoint now, const std::function<void(const LaneSilence::Demand&)>& on_demand);

  /// Works a lane that is leaving. Returns true if no record of the lane is running any more.
  bool drained(MemberLane& lane, TimePoint now);

  /// The lanes add to it; whoever begins a commit resets it.
  SinceCommit since_commit;

  /// Destroys ended lanes whose handlers have returned, once no list refers to them.
  void bury(TimePoint now);
  bool all_buried() const { return ended_.empty(); }
  /// Ended lanes whose handlers have returned, and whose threads are about to end.
  bool any_ending() const;

  void publish() EXCLUDES(mutex_);
  std::vector<std::shared_ptr<const Lane>> published() const EXCLUDES(mutex_);

 private:
  void after_work(MemberLane& lane);

  const LaneContext& context_;
  Signal& signal_;
  bool changed_ = false;                         // since the last publish()
  std::multimap<TimePoint, MemberLane*> ticks_;  // the next tick of each lane
  std::vector<MemberLane*> ready_;
  std::set<MemberLane*> worked_;
  std::atomic<bool> any_signalled_{false};
  mutable Mutex mutex_;
  std::vector<MemberLane*> signalled_ GUARDED_BY(mutex_);
  // Destroyed first, which waits for the handlers: they signal this object.
  std::map<kafka::TopicPartition, std::unique_ptr<MemberLane>> lanes_;
  std::vector<std::unique_ptr<MemberLane>> ended_;  // not buried yet
  std::vector<std::shared_ptr<const Lane>> published_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
