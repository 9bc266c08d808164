// The parts of a Service. Private to this folder. Threads: see service.h; fields that `mutex` does not guard
// are set before the members start, and other threads read them only after that (parts(), change()).
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/signal.h"
#include "base/standstill_watch.h"
#include "handler/forward/forward_handler.h"
#include "kafka/admin/directory.h"
#include "lane/member/consumer_loop.h"
#include "lane/member/retired_members.h"
#include "lane/position/silences.h"
#include "service/lanes/lane_requests.h"
#include "service/members/coordinator_guard.h"
#include "service/pools/shared_stages.h"
#include "service/service.h"
#include "service/status/status_observer.h"
#include "telemetry/series_cap.h"

namespace laneway::service {

struct Service::Implementation {
  Implementation(config::Config c, std::unique_ptr<handler::Handler> h, Duration a)
      : config(std::move(c)),
        observer(config, a),
        handler(std::move(h)),
        in_force(std::make_shared<config::Config>(config)) {}

  Status prepare();
  Result<std::vector<kafka::TopicInfo>> find_topics(kafka::Directory& directory, Duration timeout);
  Result<lane::MemoryPlan> wait_for_topics();
  Result<std::vector<kafka::TopicInfo>> find_readable_topics(kafka::Directory& directory, Deadline deadline);
  Status make_context(const lane::MemoryPlan& plan);
  Status start_members();
  Loops loops() const EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return members;
  }
  void stop() EXCLUDES(mutex);
  std::shared_ptr<const config::Config> settings() const EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return in_force;
  }
  const char* watch();
  const char* why_renew();
  Status renew_members(const char* why) EXCLUDES(mutex);
  bool late() const;
  static void report_standstill(Duration length);
  void waits(std::string what) EXCLUDES(mutex) {
    MutexLock lock(mutex);
    waits_for = std::move(what);
  }
  RunningParts parts() EXCLUDES(mutex);
  const tracing::Tracer* spans() const EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return waits_for.empty() ? tracer.get() : nullptr;
  }
  /// Null without one, and before the start.
  lane::Journal* opened_journal() const EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return journal.get();
  }

  const config::Config config;  // as at the start; settings that change while the service runs: settings()
  StatusObserver observer;
  const std::unique_ptr<handler::Handler> handler;  // the program's own; null if it has none
  SharedStages stages;
  std::unique_ptr<handler::ForwardHandler> forward;
  delivery::RetrySteps retry_steps;
  /// The same, without parking if the brokers refuse the topics for parked records.
  config::Config forwarding{config};
  const config::ConsumedTopics consumed_topics{config};
  lane::TopicSubscription subscription;                    // as the start found the topics
  std::map<std::string, std::int32_t> forward_partitions;  // retry topics and dead-letter topics
  std::unique_ptr<tracing::Tracer> tracer;
  std::atomic<std::uint64_t> brokers{1};
  std::string cluster;  // the cluster's id
  telemetry::SeriesCap series_cap;
  lane::CarefulTurn careful_turn;
  const lane::ProcessId process = std::max(std::random_device()(), 1U);
  lane::Suspensions suspensions;
  lane::Silences silences;
  CoordinatorSearch coordinator;
  lane::ProcessTotals totals;
  // From the beginning, because deadlines count standstills.
  const StandstillWatch standstills{report_standstill};
  lane::LaneContext context;
  lane::RetiredMembers retired;
  Signal changed;  // a stop, or a member that ended
  std::atomic<int> stops{0};
  std::atomic<std::int64_t> stop_deadline{0};
  mutable Mutex mutex;
  std::unique_ptr<lane::Journal> journal GUARDED_BY(mutex);  // lanes use it without the mutex
  std::vector<std::shared_ptr<lane::ConsumerLoop>> members GUARDED_BY(mutex);
  std::shared_ptr<const config::Config> in_force GUARDED_BY(mutex);
  std::string waits_for GUARDED_BY(mutex) = "it has not been started";
};

}  // namespace laneway::service
