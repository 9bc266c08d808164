// The steps that a process has tried for silent partitions (silence_watch.h). The service keeps them, and not
// the lanes, because a step can end the lane, and its partition may come back to another member of the
// process.
//
// Threads: any. Nothing blocks. Bounded by the number of partitions that the process has had.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/mutex.h"
#include "kafka/types.h"
#include "lane/position/silence_watch.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class Silences {
 public:
  /// The partition has delivered something.
  void came(const kafka::TopicPartition& partition) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    heard_.insert(partition);
    tried_.erase(partition);
  }
  /// Records a step. A rejoin brings new clients, so it counts for all silent partitions.
  void tries(const kafka::TopicPartition& partition, std::int64_t position, SilenceStep step)
      EXCLUDES(mutex_) {
    counts_[static_cast<std::size_t>(step)].add(1);
    MutexLock lock(mutex_);
    tried_[partition] = {position, step};
    if (step != SilenceStep::rejoin) return;
    for (auto& [silent, tried] : tried_) tried.step = std::max(tried.step, step);
  }

  /// The last step that was tried at this position; nullopt if the partition has delivered something since.
  std::optional<SilenceStep> tried(const kafka::TopicPartition& partition, std::int64_t position) const
      EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = tried_.find(partition);
    if (found == tried_.end() || found->second.position != position) return std::nullopt;
    return found->second.step;
  }
  /// Whether the partition has delivered anything to this process.
  bool heard(const kafka::TopicPartition& partition) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return heard_.contains(partition);
  }
  std::uint64_t count(SilenceStep step) const { return counts_[static_cast<std::size_t>(step)].get(); }

 private:
  struct Tried {
    std::int64_t position;
    SilenceStep step;
  };

  std::array<Relaxed<std::uint64_t>, silence_steps.size()> counts_;
  mutable Mutex mutex_;
  std::set<kafka::TopicPartition> heard_ GUARDED_BY(mutex_);
  std::map<kafka::TopicPartition, Tried> tried_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
