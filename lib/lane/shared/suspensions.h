// The partitions that operators have suspended. The service keeps them, and not the lanes, so that a
// partition that leaves and comes back is still suspended. A restart forgets them.
//
// A whole topic can be suspended, with later exceptions: after "orders" is suspended and partition 3 of
// "orders" is resumed, all partitions but 3 are suspended, also partitions that are assigned later.
//
// Threads: any. Nothing blocks. The caller bounds the size: it suspends only topics of lanes that exist.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "kafka/types.h"

namespace laneway::lane {

class Suspensions {
 public:
  /// Suspends or resumes a partition; without `partition`, the whole topic. False if nothing changed.
  bool set(const std::string& topic, std::optional<std::int32_t> partition, bool suspended) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto before = topics_[topic];
    auto& now = topics_[topic];
    if (!partition)
      now = {suspended, {}};
    else if (now.all != suspended)
      now.except.insert(*partition);
    else
      now.except.erase(*partition);
    const bool changed = now != before;
    if (now == Topic{}) topics_.erase(topic);
    return changed;
  }

  bool suspended(const kafka::TopicPartition& partition) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = topics_.find(partition.topic);
    return found != topics_.end() && found->second.all != found->second.except.contains(partition.partition);
  }

  /// Whether any partition of the topic is suspended, assigned here or not.
  bool knows(const std::string& topic) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return topics_.contains(topic);
  }

 private:
  struct Topic {
    bool all = false;
    std::set<std::int32_t> except;  // for these partitions the opposite of `all` holds

    friend bool operator==(const Topic&, const Topic&) = default;
  };

  mutable Mutex mutex_;
  std::map<std::string, Topic> topics_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
