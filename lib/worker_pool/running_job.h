// The job that a worker runs, if it has a name or a timeout: for the requests to stop it, and for reports.
//
// Threads: the worker begins and ends it; any may call the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"

namespace laneway::worker_pool {

class RunningJob {
 public:
  /// `name` must stay until end(). `deadline` in ns, 0 without: then the job has no stop of its own. Throws
  /// std::bad_alloc if there is no memory for a stop.
  void begin(std::string_view name, std::int64_t deadline) EXCLUDES(mutex_) {
    std::stop_source stop(std::nostopstate);
    if (deadline != 0) stop = std::stop_source();
    MutexLock lock(mutex_);
    name_ = name;
    std::swap(stop_, stop);
    deadline_ = deadline;
    past_timeout_ = false;
  }
  void end() EXCLUDES(mutex_) { begin({}, 0); }

  void request_stop() EXCLUDES(mutex_) { stop().request_stop(); }
  /// The job's own stop, or else `common`.
  std::stop_token token(const std::stop_source& common) const EXCLUDES(mutex_) {
    const auto own = stop();
    return (own.stop_possible() ? own : common).get_token();
  }

  /// Requests the stop of a job that is past its timeout. Returns whether it did so; lowers `next` to a
  /// timeout that is still to come.
  bool check(std::int64_t now, std::int64_t& next) EXCLUDES(mutex_) {
    std::stop_source stop(std::nostopstate);
    {
      MutexLock lock(mutex_);
      if (deadline_ == 0 || past_timeout_) return false;
      if (deadline_ > now) {
        next = std::min(next, deadline_);
        return false;
      }
      past_timeout_ = true;
      stop = stop_;  // of this job: when the mutex is free, the worker may begin the next one
    }
    stop.request_stop();
    return true;
  }

  std::string name() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return std::string(name_);
  }
  bool past_timeout() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return past_timeout_;
  }

 private:
  /// A copy: what the stop calls must not run under the mutex.
  std::stop_source stop() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return stop_;
  }

  mutable Mutex mutex_;
  std::string_view name_ GUARDED_BY(mutex_);
  std::stop_source stop_ GUARDED_BY(mutex_){std::nostopstate};
  std::int64_t deadline_ GUARDED_BY(mutex_) = 0;
  bool past_timeout_ GUARDED_BY(mutex_) = false;
};

}  // namespace laneway::worker_pool
