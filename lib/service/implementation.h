// What a Service is made of. Private to this folder. Threads: see service.h; what `mutex` does not guard is
// set before the members start, and read by others only after that (called(), change()).
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
#include "service/advice.h"
#include "service/lane_history.h"
#include "service/lane_requests.h"
#include "service/service.h"
#include "telemetry/series_cap.h"

namespace laneway::service {

struct Service::Implementation {
  Implementation(config::Config c, std::unique_ptr<handler::Handler> h, Duration a)
      : config(std::move(c)),
        advice_after(a),
        handler(std::move(h)),
        in_force(std::make_shared<config::Config>(config)) {}

  Status prepare();
  Result<std::vector<kafka::TopicInfo>> find_topics(kafka::Directory& directory, Duration timeout);
  Result<lane::MemoryPlan> wait_for_topics();
  Result<std::vector<kafka::TopicInfo>> find_readable_topics(kafka::Directory& directory, Deadline deadline);
  Status make_context(const lane::MemoryPlan& plan);
  Status start_members();
  kafka::ClientSettings member_settings(std::size_t member) const;
  Loops loops() const EXCLUDES(mutex);
  void stop() EXCLUDES(mutex);
  std::shared_ptr<const config::Config> settings() const EXCLUDES(mutex);
  Status change(const config::Config& wanted) EXCLUDES(mutex);
  const char* watch();
  const char* why_renew() const;
  Status renew_members(const char* why) EXCLUDES(mutex);
  bool late() const;
  void observe() EXCLUDES(mutex);
  static void report_standstill(Duration length);
  void report_refused_threads(const std::vector<LaneView>& lanes);
  void waits(std::string what) EXCLUDES(mutex);
  lane::Downstream* called() const EXCLUDES(mutex);
  std::optional<DownstreamStatus> downstream_status() const EXCLUDES(mutex);
  const tracing::Tracer* spans() const EXCLUDES(mutex);
  std::vector<const kafka::Renewals*> renewals() const;
  Facts facts() const EXCLUDES(mutex);
  Totals totals() const EXCLUDES(mutex);
  ReadinessLimits limits() const;
  AdviceSettings advice_settings() const;

  const config::Config config;  // as it was started; what can be changed in flight: settings()
  const Duration advice_after;
  std::unique_ptr<handler::Handler> handler;
  std::unique_ptr<handler::ForwardHandler> forward;
  delivery::RetryStages stages;
  std::map<std::string, std::int32_t> forward_partitions;  // retry topics and dead-letter topics
  std::unique_ptr<lane::Downstream> downstream;
  std::unique_ptr<lane::RateLimiter> rate;
  std::unique_ptr<lane::Journal> journal;
  std::unique_ptr<tracing::Tracer> tracer;
  std::atomic<std::uint64_t> brokers{1};
  std::string cluster;  // its id
  telemetry::SeriesCap series_cap;
  lane::CarefulTurn careful_turn;
  const lane::ProcessId process = std::max(std::random_device()(), 1U);
  lane::HandPauses hand_pauses;
  lane::Silences silences;
  const StandstillWatch standstills{report_standstill};  // from the start on: deadlines count
  const TimePoint created = SteadyClock::now();
  lane::LaneContext context;
  std::uint64_t refused_threads = 0;  // by the system, of the lanes that are there
  Signal changed;                     // a stop, or a member that ended
  std::atomic<int> stops{0};
  std::atomic<std::int64_t> stop_deadline{0};
  mutable Mutex mutex;
  std::vector<std::shared_ptr<lane::ConsumerLoop>> members GUARDED_BY(mutex);
  std::shared_ptr<const config::Config> in_force GUARDED_BY(mutex);
  LaneHistory history GUARDED_BY(mutex);
  UsageHistory usage GUARDED_BY(mutex);
  TimePoint next_observation GUARDED_BY(mutex);
  std::string waits_for GUARDED_BY(mutex) = "it has not been started";
};

}  // namespace laneway::service
