// What a running service tells about itself: its lanes over time, whether it is ready, its status and advice.
// Private to this folder.
//
// Ownership: keeps a reference to the configuration as it was started; what is handed in stays the caller's.
// Threads: observe() is called by one thread, the others may be called by any. readiness() and status() ask
// the loops and wait for at most 500 ms.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lane/shared/downstream.h"
#include "lane/shared/rate_limiter.h"
#include "service/advice.h"
#include "service/downstream_status.h"
#include "service/lane_history.h"
#include "service/lane_requests.h"
#include "service/readiness.h"
#include "service/service.h"
#include "service/usage.h"

namespace laneway::service {

/// The parts of a service at a moment.
struct RunningParts {
  Loops loops;
  std::shared_ptr<const config::Config> settings;  ///< in force
  std::string waits_for;                           ///< until it has started; empty: it has
  const std::atomic<int>* stops;           ///< above zero: it stops; read late, as a stop may come in between
  lane::Downstream* downstream = nullptr;  ///< null until it has started
  lane::RateLimiter* rate = nullptr;       ///< likewise
};

class StatusObserver {
 public:
  /// `advice_after`: how long lanes are looked at before anything is advised.
  StatusObserver(const config::Config& started, Duration advice_after)
      : config_(started), advice_after_(advice_after) {}

  /// Once a second; a call that comes sooner does nothing.
  void observe(const RunningParts& parts) EXCLUDES(mutex_);
  Readiness readiness(const RunningParts& parts) const EXCLUDES(mutex_);
  ServiceStatus status(const RunningParts& parts) const EXCLUDES(mutex_);

 private:
  bool is_due(TimePoint now) EXCLUDES(mutex_);
  void report_refused_threads(const std::vector<LaneView>& lanes);
  Facts facts(const RunningParts& parts) const EXCLUDES(mutex_);
  ReadinessLimits limits(const RunningParts& parts) const;
  AdviceSettings advice_settings(const RunningParts& parts) const;

  const config::Config& config_;  // what can be changed in flight: RunningParts::settings
  const Duration advice_after_;
  const TimePoint created_ = SteadyClock::now();
  std::uint64_t refused_threads_ = 0;  // by the system, of the lanes that are there
  mutable Mutex mutex_;
  LaneHistory history_ GUARDED_BY(mutex_);
  UsageHistory usage_ GUARDED_BY(mutex_);
  TimePoint next_observation_ GUARDED_BY(mutex_);
};

}  // namespace laneway::service
