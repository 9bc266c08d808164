// The challenges that this service has given to clients, each good for one change within a minute.
//
// Threads: any. Does not block. Bounded: the newest challenges are kept.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "admin/nonce.h"
#include "base/mutex.h"
#include "base/time.h"

namespace laneway::admin {

class Challenges {
 public:
  /// A new one. Throws as new_nonce().
  std::string give(TimePoint now) EXCLUDES(mutex_) {
    auto challenge = new_nonce();
    MutexLock lock(mutex_);
    if (given_.size() >= most) given_.pop_front();
    given_.emplace_back(challenge, now + good_for);
    return challenge;
  }

  /// Whether the challenge was given, is not too old, and was not taken before.
  bool take(const std::string& challenge, TimePoint now) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = std::find_if(given_.begin(), given_.end(),
                                    [&](const auto& given) { return given.first == challenge; });
    if (found == given_.end()) return false;
    const bool in_time = now <= found->second;
    given_.erase(found);
    return in_time;
  }

 private:
  static constexpr std::size_t most = 1024;
  static constexpr Duration good_for = seconds(60);

  Mutex mutex_;
  std::deque<std::pair<std::string, TimePoint>> given_ GUARDED_BY(mutex_);  // the oldest first
};

}  // namespace laneway::admin
