// What operators have decided about partitions: to suspend them, and to resume them.
//
// A decision travels: the lane writes it into its commits (commit/stored_commit.h), so the next owner of
// the partition finds it, also after a restart. The later decision counts, whichever process it was made in:
// so a partition that is resumed elsewhere and comes back is not suspended again by what this process
// remembers. The process remembers its decisions for partitions that come to it later, and for commits that
// were not acknowledged. A decision is later than every decision that its process has made or seen before,
// also if the clock of another process is ahead.
//
// Beside that, partitions can be suspended in this process only. The service keeps this, and not the lanes,
// so that a partition that leaves and comes back is still suspended. A restart forgets it.
//
// Both can concern a whole topic, with later exceptions: after "orders" is suspended and partition 3 of
// "orders" is resumed, all partitions but 3 are suspended, also partitions that are assigned later.
//
// Threads: any. Nothing blocks. The caller bounds the size: it suspends only topics of lanes that exist.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "kafka/types.h"

namespace laneway::lane {

/// A decision about one partition.
struct Suspension {
  bool suspended = false;
  std::int64_t at_ms = 0;  ///< since 1970

  friend bool operator==(const Suspension&, const Suspension&) = default;
};

class Suspensions {
 public:
  /// A decision about a partition, or without `partition` about the whole topic, that travels.
  void decide(const std::string& topic, std::optional<std::int32_t> partition, Suspension decision)
      EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    decision.at_ms = last_ms_ = std::max(decision.at_ms, last_ms_ + 1);
    auto& decided = decided_[topic];
    if (partition)
      decided.one[*partition] = decision;
    else
      decided = {decision, {}};
  }
  /// A commit carries a decision that was made at this time, by the clock of some process.
  void saw(std::int64_t at_ms) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    last_ms_ = std::max(last_ms_, at_ms);
  }
  /// The last decision about the partition in this process.
  std::optional<Suspension> decision(const kafka::TopicPartition& partition) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto topic = decided_.find(partition.topic);
    if (topic == decided_.end()) return std::nullopt;
    const auto one = topic->second.one.find(partition.partition);
    return one == topic->second.one.end() ? topic->second.all : one->second;
  }
  /// Whether this process suspends the partitions of the topic that come to it.
  bool suspends(const std::string& topic) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = decided_.find(topic);
    return found != decided_.end() && found->second.all && found->second.all->suspended;
  }

  /// Suspends a partition, or without `partition` the whole topic, in this process only, or ends that. False
  /// if nothing changed.
  bool set_here(const std::string& topic, std::optional<std::int32_t> partition, bool suspended)
      EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto before = here_[topic];
    auto& now = here_[topic];
    if (!partition)
      now = {suspended, {}};
    else if (now.all != suspended)
      now.except.insert(*partition);
    else
      now.except.erase(*partition);
    const bool changed = now != before;
    if (now == Here{}) here_.erase(topic);
    return changed;
  }
  bool suspended_here(const kafka::TopicPartition& partition) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = here_.find(partition.topic);
    return found != here_.end() && found->second.all != found->second.except.contains(partition.partition);
  }
  /// Whether any partition of the topic is suspended in this process only, assigned here or not.
  bool knows_here(const std::string& topic) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return here_.contains(topic);
  }

 private:
  struct Decided {
    std::optional<Suspension> all;
    std::map<std::int32_t, Suspension> one;  // later than `all`
  };
  struct Here {
    bool all = false;
    std::set<std::int32_t> except;  // for these partitions the opposite of `all` holds

    friend bool operator==(const Here&, const Here&) = default;
  };

  mutable Mutex mutex_;
  std::int64_t last_ms_ GUARDED_BY(mutex_) = 0;  // the time of the last decision that was made or seen
  std::map<std::string, Decided> decided_ GUARDED_BY(mutex_);
  std::map<std::string, Here> here_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
