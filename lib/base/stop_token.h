// Tells running work that its time is over.
//
// std::stop_source would cost an allocation for every record. Here one StopState serves a worker for its
// whole life: the worker numbers its jobs (tickets, rising), and a stop names the highest ticket that it
// applies to. A late stop, after the worker has begun the next ticket, therefore cannot stop the wrong
// record, and a token costs nothing.
//
// Threads: the thread that runs the work uses the token; any thread may call stop_up_to.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway {

class StopState {
 public:
  static constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();

  /// Stops every ticket up to and including `ticket`; `all` also stops all future tickets.
  void stop_up_to(std::uint64_t ticket) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (ticket <= stopped_.load(std::memory_order_relaxed)) return;
      stopped_.store(ticket, std::memory_order_release);
    }
    stopped_changed_.notify_all();
  }

  bool stopped(std::uint64_t ticket) const { return ticket <= stopped_.load(std::memory_order_acquire); }

  /// Sleeps until `at`, or until `ticket` is stopped; returns true if stopped.
  bool wait_until(std::uint64_t ticket, TimePoint at) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!stopped(ticket)) {
      if (SteadyClock::now() >= at) return false;
      stopped_changed_.wait_until(mutex_, at);
    }
    return true;
  }

 private:
  Mutex mutex_;
  Condition stopped_changed_;
  std::atomic<std::uint64_t> stopped_{0};  // written under mutex_, read without; tickets start at 1
};

/// One record's view of a StopState, which must outlive the token.
struct StopToken {
  StopState* state;
  std::uint64_t ticket;

  bool stop_requested() const { return state->stopped(ticket); }
  /// Sleeps until `at` or a stop; returns true if stopped. For handlers that would otherwise sleep.
  bool wait_until(TimePoint at) const { return state->wait_until(ticket, at); }
};

}  // namespace laneway
