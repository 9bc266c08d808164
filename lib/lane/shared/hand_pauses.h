// What operators have paused: kept by the service and not by lanes, so that it holds for partitions that
// leave and come back, too. A restart forgets it.
//
// A whole topic can be paused, with later exceptions: pausing "orders" and resuming "orders", 3 leaves all
// but partition 3 paused, also partitions that are assigned later.
//
// Threads: any. Nothing blocks. Bounded by the caller, who pauses only what there is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "kafka/types.h"

namespace laneway::lane {

class HandPauses {
 public:
  /// Nothing for `partition`: the whole topic. False when that was so before.
  bool set(const std::string& topic, std::optional<std::int32_t> partition, bool paused) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto before = topics_[topic];
    auto& now = topics_[topic];
    if (!partition)
      now = {paused, {}};
    else if (now.all != paused)
      now.except.insert(*partition);
    else
      now.except.erase(*partition);
    const bool changed = now != before;
    if (now == Topic{}) topics_.erase(topic);
    return changed;
  }

  bool paused(const kafka::TopicPartition& partition) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = topics_.find(partition.topic);
    return found != topics_.end() && found->second.all != found->second.except.contains(partition.partition);
  }

  /// Whether anything of the topic is paused, here or where it will be assigned.
  bool knows(const std::string& topic) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return topics_.contains(topic);
  }

 private:
  struct Topic {
    bool all = false;
    std::set<std::int32_t> except;  // for these it is the other way round

    friend bool operator==(const Topic&, const Topic&) = default;
  };

  mutable Mutex mutex_;
  std::map<std::string, Topic> topics_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
