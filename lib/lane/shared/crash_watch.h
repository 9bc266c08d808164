// Recognises the record whose handling ends the process (a plugin crashes, memory runs out), so that the
// record cannot end the process again and again: after retry.max_crashes deaths the record goes to the
// dead-letter topic.
//
// After a death, only what was written down before the death is known. So each commit carries a marker beside
// the completion map: how many lives in a row have begun at this offset without a clean end, and of which
// processes. A life is one assignment of the partition in which at least one record is begun. No record is
// begun before the marker of its life is acknowledged, because a record that kills at once would otherwise
// never leave a trace. A record that kills keeps the committed offset where it is, so the number of lives
// grows; any progress resets the number. A lane that ends with everything committed and nothing running
// writes no end: the lane leaves the number 1.
//
// A partition that is lost, a member that is fenced and a process that is stopped for longer than its session
// do not end cleanly, but they are no deaths. The process itself knows this when it gets the partition again:
// the records that were running in its own life did not kill it, and the count starts again. Another process
// cannot know this, so its precautions must be cheap and must prove the death: from the third life on, the
// lane is in careful mode. One group of records runs at a time, in the whole process, and the group is
// committed before it begins: first one record alone, then four, sixteen and so on, so that a false alarm is
// over after a few commits. If the process dies, the next life knows more:
//
//   life 1, 2    the process dies: one of the running records is the cause
//   life 3 ...   careful; it dies with a group running: the next life runs the group in sixteen parts
//   life 4 ...   it dies with one record running alone: the suspect, whose deaths are counted
//   then         a suspect with max_crashes - 1 deaths alone is dead-lettered
//
// A life stays careful until careful_records records or careful_groups groups have finished, or until no
// record is left to run.
//
// Pure: no threads, no clock, no Kafka. One owner, one thread; CarefulTurn: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fair_turn.h"
#include "base/mutex.h"

namespace laneway::lane {

/// Identifies one run of the program; 0 if unknown.
using ProcessId = std::uint32_t;

/// What a commit records about the lives at its offset.
struct LifeMarker {
  /// Lives that began here and did not end cleanly; 0 if the last life ended cleanly.
  std::uint32_t lives = 0;
  std::optional<std::int64_t> suspect{};  ///< the record that a careful life ran alone last
  std::uint32_t deaths = 0;               ///< earlier lives that ended while the suspect was running alone
  /// Without a suspect: how many records a careful life was running last.
  std::uint32_t among = 0;
  /// The processes of the lives, the newest last; only the newest if there are many.
  std::vector<ProcessId> by{};

  friend bool operator==(const LifeMarker&, const LifeMarker&) = default;
};

/// The marker as it counts for process `self`. If one of the lives was its own, the records that were running
/// in that life did not kill, so the result is empty; otherwise the marker is unchanged.
LifeMarker outlived(const LifeMarker& marker, ProcessId self);

class CrashWatch {
 public:
  static constexpr std::uint32_t careful_from = 2;  // unclean ends before careful mode
  static constexpr std::uint32_t careful_records = 1000;
  static constexpr std::uint32_t careful_groups = 32;

  /// `before` is the marker of the last commit.
  CrashWatch(const LifeMarker& before, std::uint32_t max_crashes, ProcessId self = 0);

  bool careful() const { return careful_; }
  /// The last life ended uncleanly.
  bool begins_unclean() const { return before_.lives > 0; }
  /// How many lives ended uncleanly, as far as is known.
  std::uint32_t lives_before() const { return before_.lives; }

  /// The marker for the next commit. The version changes whenever the marker changes, and for each group.
  /// Version 0: the marker is the one that was found.
  const LifeMarker& marker() const { return marker_; }
  std::uint64_t version() const { return version_; }

  /// The first record is about to begin.
  void begin();
  bool begun() const { return begun_; }
  /// The committed offset has moved on.
  void progressed();
  /// Careful mode: how many records may run at a time.
  std::uint32_t group() const { return group_; }
  /// Careful mode: the next group starts at `first` and has `records` records; the marker names the group.
  void suspect(std::int64_t first, std::uint32_t records = 1);
  /// Careful mode: the number of crashes during which this record was running. In the first of them other
  /// records were running too.
  std::uint32_t crashes(std::int64_t offset) const;
  bool condemned(std::int64_t offset) const { return careful_ && crashes(offset) >= max_crashes_; }
  /// Careful mode: the running group has ended, and the process lives. `records`: those that are
  /// finished, and do not go on to another pool.
  void survived(std::uint32_t records = 1);
  /// No suspicion is left: ends careful mode.
  void relax();
  /// The marker that this life leaves if it ends now and not by a death. A life that has begun nothing, and a
  /// careful life that has not finished, leave the marker that they found.
  LifeMarker left_behind() const { return careful_ || !begun_ ? before_ : LifeMarker{}; }
  /// The lane drains.
  void end_cleanly();

 private:
  LifeMarker this_life() const;
  void become(LifeMarker marker);

  LifeMarker before_;
  const std::uint32_t max_crashes_;
  const ProcessId self_;
  LifeMarker marker_;
  std::uint64_t version_ = 0;
  bool careful_ = false;
  bool begun_ = false;
  bool ended_ = false;
  std::uint32_t group_ = 1;
  std::int64_t at_work_ = -1;  // the first record of the running group
  std::uint32_t through_ = 0;
  std::uint32_t groups_ = 0;  // since the last group with a known suspicion
};

/// Gives each careful lane of a process its turn to run records alone. Threads: any.
class CarefulTurn {
 public:
  /// Returns true if `lane` has the turn. The lane keeps the turn until it gives the turn back.
  bool take(const void* lane, TimePoint now) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (holder_ == lane) return true;
    turn_.ask(lane, now);
    if (holder_ != nullptr || turn_.first(now) != lane) return false;
    turn_.leave(lane);
    holder_ = lane;
    return true;
  }
  /// Gives the turn back, or ends the wait for it.
  void give_back(const void* lane) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    turn_.leave(lane);
    if (holder_ == lane) holder_ = nullptr;
  }

 private:
  Mutex mutex_;
  FairTurn<const void*> turn_ GUARDED_BY(mutex_);
  const void* holder_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace laneway::lane
