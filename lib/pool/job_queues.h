// The accepted jobs of a pool that no worker has claimed yet: one queue for each Turn, and which of the
// queues is next. Pure. One thread at a time: the pool's lock protects the object.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>

#include "base/time.h"
#include "pool/batch.h"

namespace laneway::pool {

class JobQueues {
 public:
  struct Entry {
    Range range;
    TimePoint submitted;
  };
  using Queue = std::deque<Entry>;

  void push(const Range& range, TimePoint now) { of(range.batch->turn).push_back({range, now}); }

  /// The queue of the next claim. There must be an entry.
  Queue& next() {
    if (!of(Turn::first).empty()) return of(Turn::first);
    in_order_next_ = !of(Turn::alternating).empty() && (of(Turn::in_order).empty() || !in_order_next_);
    return of(in_order_next_ ? Turn::alternating : Turn::in_order);
  }
  /// The queue of the jobs that would begin last. There must be an entry.
  Queue& last() {
    for (const auto turn : {Turn::in_order, Turn::alternating})
      if (!of(turn).empty()) return of(turn);
    return of(Turn::first);
  }

  /// When the job that has waited longest was submitted; the latest possible time if there is no entry.
  TimePoint oldest() const {
    TimePoint oldest = TimePoint::max();
    for (const auto& queue : queues_)
      if (!queue.empty()) oldest = std::min(oldest, queue.front().submitted);
    return oldest;
  }

 private:
  Queue& of(Turn turn) { return queues_[static_cast<std::size_t>(turn)]; }

  std::array<Queue, 3> queues_;  // in the order of Turn
  bool in_order_next_ = false;   // the last claim was of alternating jobs
};

}  // namespace laneway::pool
