// Recognises the record whose handling ends the process (a crash of a plugin, out of memory), so that it
// cannot end it again and again: after retry.max_crashes deaths it goes to the dead-letter topic.
//
// What is known after a death is only what was written down before it. So each commit carries a marker beside
// the completion map: how many lives in a row have begun at this offset without ending cleanly, and of which
// processes. A life is one assignment of the partition in which something is begun; nothing is begun in it
// before its marker is acknowledged, because a record that kills at once would otherwise leave no trace,
// forever. A record that kills holds the committed offset where it is, so the number grows; any progress sets
// it back. A lane that ends at rest, with all committed, writes no end: it leaves the number 1.
//
// A partition that is lost, a member that is fenced, a process that is stopped for longer than its session:
// none of these ends cleanly, and none is a death. The process itself knows when it gets the partition again:
// what was at work in its life did not kill it, and the count begins anew. Another process cannot know, so
// what it does must be cheap and must prove the death: from the third life on the lane is careful. One group
// of records is at work at a time, in the whole process, and the group is committed before it begins: first
// one record alone, then four, sixteen and so on, so that a false alarm is over after a few commits. If the
// process dies, the next life knows more:
//
//   life 1, 2    the process dies: some record of those at work
//   life 3 ...   careful; it dies with a group at work: the next life runs that in sixteen parts
//   life 4 ...   it dies with one record alone at work: the suspect, whose deaths add up
//   then         a suspect of max_crashes - 1 deaths alone is given up
//
// A life stays careful until careful_records records or careful_groups groups are through, or until nothing
// is left to do.
//
// Pure: no threads, no clock, no Kafka. One owner, one thread; CarefulTurn: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fair_turn.h"
#include "base/mutex.h"

namespace laneway::lane {

/// Of one run of the program; 0: unknown.
using ProcessId = std::uint32_t;

/// What a commit says of the lives at its offset.
struct LifeMarker {
  std::uint32_t lives = 0;                ///< begun here and not ended cleanly; 0: the last one ended cleanly
  std::optional<std::int64_t> suspect{};  ///< what a careful life had alone at work last
  std::uint32_t deaths = 0;               ///< lives before this one that ended with the suspect alone at work
  std::uint32_t among = 0;                ///< no suspect: how many records a careful life had at work last
  std::vector<ProcessId> by{};            ///< whose lives, the newest last; of many the newest

  friend bool operator==(const LifeMarker&, const LifeMarker&) = default;
};

/// As the metadata of a commit begins: "lives=3 suspect=1234 deaths=1 by=7 by=9 "; empty after a clean end.
std::string encode(const LifeMarker& marker);
/// Takes a marker off the front; what is none stays as it is.
LifeMarker take_marker(std::string_view& metadata);
/// What is left of it for a process that may have had one of those lives, and lives: then what was at work
/// here does not kill, and nothing is left.
LifeMarker outlived(const LifeMarker& marker, ProcessId self);

class CrashWatch {
 public:
  static constexpr std::uint32_t careful_from = 2;  // unclean ends before it
  static constexpr std::uint32_t careful_records = 1000;
  static constexpr std::uint32_t careful_groups = 32;

  /// `before` is the marker of the last commit. max_crashes 0: nothing is watched, markers are empty.
  CrashWatch(const LifeMarker& before, std::uint32_t max_crashes, ProcessId self = 0);

  bool watches() const { return max_crashes_ > 0; }
  bool careful() const { return careful_; }
  /// The last life ended uncleanly.
  bool begins_unclean() const { return before_.lives > 0; }
  /// How many ended uncleanly, as far as is known.
  std::uint32_t lives_before() const { return before_.lives; }

  /// For the next commit. Its version is another number whenever it differs from the one before, and for each
  /// group; 0: it is what was found.
  const LifeMarker& marker() const { return marker_; }
  std::uint64_t version() const { return version_; }

  /// The first record is next.
  void begin();
  bool begun() const { return begun_; }
  /// The committed offset moves on.
  void progressed();
  /// Careful: how many records may be at work at a time.
  std::uint32_t group() const { return group_; }
  /// Careful: these are next, in number; the marker says so.
  void suspect(std::int64_t first, std::uint32_t records = 1);
  /// Careful: deaths that this record is known to have been in, the first of them among others.
  std::uint32_t crashes(std::int64_t offset) const;
  bool condemned(std::int64_t offset) const { return careful_ && crashes(offset) >= max_crashes_; }
  /// Careful: the attempts at these are over and the process lives.
  void survived(std::uint32_t records = 1);
  /// Nothing is left to fear: as any other life from now on.
  void relax();
  /// What a life leaves behind that ends now and not by a death. One that has begun nothing, or a careful one
  /// that is not through, leaves what it found.
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
  std::int64_t at_work_ = -1;  // the first of the group
  std::uint32_t through_ = 0;
  std::uint32_t groups_ = 0;  // since there was nothing more that was known to be suspicious
};

/// Whose records are alone at work among the careful lanes of a process: each has its turn. Any thread.
class CarefulTurn {
 public:
  /// True when it is `lane`'s, which it stays until it is given back.
  bool take(const void* lane, TimePoint now) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (holder_ == lane) return true;
    turn_.ask(lane, now);
    if (holder_ != nullptr || turn_.first(now) != lane) return false;
    turn_.leave(lane);
    holder_ = lane;
    return true;
  }
  /// Also when it only waited for it.
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
