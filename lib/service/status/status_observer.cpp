#include "service/status/status_observer.h"

#include <algorithm>
#include <ctime>
#include <thread>

#include "base/shortage.h"
#include "config/pools/pool_scope.h"
#include "handler/registry.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

constexpr Duration observe_interval = seconds(1);
constexpr Duration detail_patience = milliseconds(500);
constexpr Duration control_patience = seconds(5);
constexpr Duration throttle_memory = seconds(60);

std::uint32_t processors() { return std::max(1U, std::thread::hardware_concurrency()); }

Duration processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

/// Whether each member has an assignment; none has one while the members are made.
std::vector<bool> assigned_of(const RunningParts& parts) {
  std::vector<bool> assigned;
  for (const auto& loop : parts.loops)
    assigned.push_back(parts.waits_for.empty() && loop->stats().has_assignment.get());
  return assigned;
}

Totals totals_of(const Loops& loops, std::uint64_t dead_letters) {
  Totals totals;
  totals.dead_letters = dead_letters;
  for (const auto& loop : loops) {
    const auto& stats = loop->stats();
    totals.assigned += stats.assigned.get();
    totals.revoked += stats.revoked.get();
    totals.lost += stats.lost.get();
    totals.commits += stats.commits_acknowledged.get();
    totals.commits_failed += stats.commits_failed.get();
  }
  return totals;
}

std::vector<DownstreamStatus> statuses_of(const RunningParts& parts, const std::vector<LaneView>& lanes) {
  std::vector<DownstreamStatus> all;
  for (const auto& watched : parts.downstreams()) {
    all.push_back(status_of(watched));
    if (!any_waits(lanes, watched.pool)) leave_out_outage(all.back());
  }
  return all;
}

/// The one that is out, if one is; nullopt until the service has started.
std::optional<DownstreamStatus> worst_of(std::vector<DownstreamStatus> all) {
  if (all.empty()) return std::nullopt;
  const auto out = std::find_if(all.begin(), all.end(), [](const auto& one) { return one.out.has_value(); });
  return std::move(out == all.end() ? all.front() : *out);
}

}  // namespace

std::vector<MemberFacts> members_of(const Loops& loops) {
  const auto now = SteadyClock::now();
  const auto since = [&](const lane::Relaxed<std::int64_t>& stamp) {
    return stamp.get() == 0 ? Duration::zero() : now - TimePoint(Duration(stamp.get()));
  };
  std::vector<MemberFacts> members;
  for (const auto& loop : loops) {
    const auto& stats = loop->stats();
    members.push_back(
        {stats.has_assignment.get(), since(stats.no_broker_since_ns), since(stats.no_coordinator_since_ns),
         since(stats.joining_since_ns), loop->broker_error(), loop->lanes().size(),
         stats.throttled_at_ns.get() != 0 && since(stats.throttled_at_ns) < throttle_memory,
         stats.without_topics.get(), stats.awaited_offsets.get(), since(stats.awaiting_offsets_since_ns)});
  }
  return members;
}

void StatusObserver::observe(const RunningParts& parts) {
  const auto now = SteadyClock::now();
  bool is_sample_due;
  {
    MutexLock lock(mutex_);
    if (now < next_observation_) return;
    next_observation_ = now + observe_interval;
    is_sample_due = timeline_.is_due(now);
  }
  const auto lanes = views_of(parts.loops);
  const auto members = members_of(parts.loops);
  const auto idle = std::count_if(members.begin(), members.end(), [](const auto& one) { return one.idle(); });
  if (parts.stages != nullptr) parts.stages->settle(now);
  report_refused_threads(lanes);
  Look look{lanes, totals_of(parts.loops, parts.dead_letters), statuses_of(parts, lanes), {}};
  if (is_sample_due) look.readiness = readiness(parts, lanes);
  MutexLock lock(mutex_);
  history_.observe(lanes, now);
  lost_.observe(lanes, assigned_of(parts));
  usage_.observe(lanes, members.size(), static_cast<std::size_t>(idle), processor_time(), now);
  record(look, now);
}

void StatusObserver::record(const Look& look, TimePoint now) {
  const auto wall = wall_clock_ms();
  changes_.observe(look, now, wall, timeline_);
  TimelineSample sample;
  for (const auto& lane : look.lanes) {
    sample.lag += std::max<std::int64_t>(lane.lag, 0);
    sample.rate += static_cast<float>(history_.rate(lane));
  }
  sample.dead_letters = look.totals.dead_letters;
  sample.rebalances = changes_.rebalances();
  sample.ready = !look.readiness || look.readiness->ready();
  const auto worst = worst_of(look.downstreams);
  if (worst && worst->state != delivery::BreakerState::off) sample.breaker = worst->state;
  timeline_.look(sample, now, wall);
}

TimelineNews StatusObserver::timeline(std::uint64_t known) const {
  MutexLock lock(mutex_);
  return timeline_.since(known, wall_clock_ms());
}

ControlAnswer StatusObserver::control(const RunningParts& parts, lane::Suspensions& suspensions,
                                      const ControlRequest& request) {
  auto answer = request.about_parked()
                    ? order_parked(parts.loops, parts.stages, *parts.settings, request)
                    : service::control(parts.loops, suspensions, request, control_patience);
  MutexLock lock(mutex_);
  changes_.requested(request, answer, wall_clock_ms(), timeline_);
  return answer;
}

void StatusObserver::reloaded() {
  MutexLock lock(mutex_);
  changes_.reloaded(wall_clock_ms(), timeline_);
}

/// Lanes continue with the workers that they have.
void StatusObserver::report_refused_threads(const std::vector<LaneView>& lanes) {
  std::uint64_t refused = 0;
  for (const auto& lane : lanes) refused += lane.refused_threads;
  if (refused > refused_threads_)
    telemetry::log_repeating(telemetry::Level::warn, "worker refused", "a worker could not be started",
                             {{"refusals", refused - refused_threads_}, {"error", *shortage_of(EAGAIN)}});
  refused_threads_ = refused;
}

ReadinessLimits StatusObserver::limits(const RunningParts& parts) const {
  ReadinessLimits limits;
  limits.stall = parts.settings->admin.ready.stall;
  const std::string& rebalance = config_.client("max.poll.interval.ms");
  if (!rebalance.empty()) limits.rebalance = milliseconds(std::stoll(rebalance));
  return limits;
}

AdviceSettings StatusObserver::advice_settings(const RunningParts& parts) const {
  AdviceSettings advised;
  advised.lanes = parts.settings->lanes;
  advised.workers = advised.queue = 0;
  const auto stages = config::stages_of(*parts.settings);
  for (const auto& pool : stages) {
    advised.workers += pool.workers + pool.retry_workers;
    advised.queue += pool.queue;
  }
  advised.pools = config::shows_pools(*parts.settings);
  for (const auto& watched : parts.downstreams())
    advised.keeps_pace = advised.keeps_pace || watched.rate->keeps_pace();
  const auto requests = handler::resources_of(config_.handler_of(stages.front())).requests;
  if (!advised.pools && requests) advised.connections = requests->at_once;
  advised.cores = processors();
  advised.least_span = advice_after_;
  return advised;
}

Facts StatusObserver::facts(const RunningParts& parts, const std::vector<LaneView>& lanes) const {
  auto details = details_of(parts.loops, detail_patience);
  const auto now = SteadyClock::now();
  Facts facts;
  facts.starting = parts.waits_for;
  facts.stopping = parts.stops->load() > 0;
  facts.members = members_of(parts.loops);
  for (const auto& downstream : statuses_of(parts, lanes))
    if (downstream.out) facts.breakers.push_back(outage_in_words(downstream, wall_clock_ms()));
  MutexLock lock(mutex_);
  for (const auto& lane : lanes) {
    auto& detail = details[lane.epoch];
    const bool over = history_.error_is_over(lane, detail);
    facts.lanes.push_back({lane, history_.without_progress(lane, now), history_.held(lane, now),
                           std::move(detail), history_.rate(lane), history_.dead_letter_rate(lane), over});
  }
  return facts;
}

Readiness StatusObserver::readiness(const RunningParts& parts, const std::vector<LaneView>& lanes) const {
  return judge(facts(parts, lanes), limits(parts));
}

std::vector<LaneView> StatusObserver::lost(const RunningParts& parts,
                                           const std::vector<LaneView>& lanes) const {
  MutexLock lock(mutex_);
  return lost_.of(lanes, assigned_of(parts));
}

ServiceStatus StatusObserver::status(const RunningParts& parts) const {
  const auto lanes = views_of(parts.loops);
  auto facts = this->facts(parts, lanes);
  ServiceStatus status;
  status.readiness = judge(facts, limits(parts));
  status.group = config_.client("group.id");
  status.uptime = SteadyClock::now() - created_;
  status.members = facts.members.size();
  status.totals = totals_of(parts.loops, parts.dead_letters);
  status.settings = parts.settings->lanes;
  status.workers = parts.settings->unnamed.workers;
  status.queue = parts.settings->unnamed.queue;
  status.cores = processors();
  status.processor = processor_time();
  auto downstreams = statuses_of(parts, lanes);
  if (parts.stages != nullptr)
    status.pools = pool_statuses(*parts.stages, *parts.settings, lanes, downstreams);
  if (parts.stages != nullptr) status.parked_orders = parked_orders_in_words(*parts.stages, wall_clock_ms());
  status.downstream = worst_of(std::move(downstreams));
  auto advised = advice_settings(parts);
  advised.outage = status.downstream && status.downstream->out;
  MutexLock lock(mutex_);
  status.advice = advise(usage_.usage(), advised);
  for (std::size_t i = 0; i < status.pools.size(); ++i)
    for (const auto& lane : facts.lanes) status.pools[i].rate += history_.pool_rate(lane.view, i);
  status.lanes = std::move(facts.lanes);
  return status;
}

}  // namespace laneway::service
