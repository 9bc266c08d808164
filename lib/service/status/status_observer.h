// What a running service reports about itself: its lanes over time, whether it is ready, its status and
// advice. Private to this folder.
//
// Ownership: keeps a reference to the configuration as at the start; arguments stay the caller's. Threads:
// observe() is called by one thread, the others may be called from any. readiness() and status() ask the
// loops and wait for at most 500 ms.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "service/advice/advice.h"
#include "service/advice/usage.h"
#include "service/downstream_status.h"
#include "service/lanes/lane_history.h"
#include "service/lanes/lane_requests.h"
#include "service/lanes/parked_requests.h"
#include "service/pools/shared_stages.h"
#include "service/ready/lost_lanes.h"
#include "service/ready/readiness.h"
#include "service/service_status.h"
#include "service/timeline/changes.h"
#include "service/timeline/timeline.h"

namespace laneway::service {

/// The parts of a service at one moment.
struct RunningParts {
  Loops loops;
  std::shared_ptr<const config::Config> settings;  ///< in force
  /// What the start waits for; empty if the service has started.
  std::string waits_for;
  /// Above zero if the service stops; read late, as a stop may come in between.
  const std::atomic<int>* stops;
  std::uint64_t dead_letters = 0;  ///< acknowledged since the process started
  std::uint64_t abandoned = 0;     ///< records that were running when their lane ended, likewise
  SharedStages* stages = nullptr;  ///< null until the service has started

  /// Of each stage; empty until the service has started.
  std::vector<WatchedDownstream> downstreams() const {
    return stages == nullptr ? std::vector<WatchedDownstream>() : stages->watched(*settings);
  }
};

std::vector<MemberFacts> members_of(const Loops& loops);

class StatusObserver {
 public:
  /// `advice_after`: how long lanes are observed before any advice is given.
  StatusObserver(const config::Config& started, Duration advice_after)
      : config_(started), advice_after_(advice_after) {}

  /// To be called at least once per second; further calls within the second do nothing.
  void observe(const RunningParts& parts) EXCLUDES(mutex_);
  /// `lanes`: the present ones.
  Readiness readiness(const RunningParts& parts, const std::vector<LaneView>& lanes) const EXCLUDES(mutex_);
  ServiceStatus status(const RunningParts& parts) const EXCLUDES(mutex_);
  TimelineNews timeline(std::uint64_t known) const EXCLUDES(mutex_);
  /// What was last known of the lanes that are lost.
  std::vector<LaneView> lost(const RunningParts& parts, const std::vector<LaneView>& lanes) const
      EXCLUDES(mutex_);
  /// When the process started, in ms since 1970.
  std::int64_t created_ms() const { return created_ms_; }
  /// Carries out what an operator requests, and notes it in the timeline.
  ControlAnswer control(const RunningParts& parts, lane::Suspensions& suspensions,
                        const ControlRequest& request) EXCLUDES(mutex_);
  /// Other settings are in force.
  void reloaded() EXCLUDES(mutex_);

 private:
  void record(const Look& look, TimePoint now) REQUIRES(mutex_);
  void report_refused_threads(const std::vector<LaneView>& lanes);
  Facts facts(const RunningParts& parts, const std::vector<LaneView>& lanes) const EXCLUDES(mutex_);
  ReadinessLimits limits(const RunningParts& parts) const;
  AdviceSettings advice_settings(const RunningParts& parts) const;

  const config::Config& config_;  // settings that change while the service runs: RunningParts::settings
  const Duration advice_after_;
  const TimePoint created_ = SteadyClock::now();
  const std::int64_t created_ms_ = wall_clock_ms();
  std::uint64_t refused_threads_ = 0;  // refused by the system, for the present lanes
  mutable Mutex mutex_;
  LaneHistory history_ GUARDED_BY(mutex_);
  UsageHistory usage_ GUARDED_BY(mutex_);
  TimePoint next_observation_ GUARDED_BY(mutex_);
  LostLanes lost_ GUARDED_BY(mutex_);
  Changes changes_ GUARDED_BY(mutex_);
  Timeline timeline_ GUARDED_BY(mutex_){wall_clock_ms()};
};

}  // namespace laneway::service
