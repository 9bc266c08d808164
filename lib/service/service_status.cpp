// What a Service tells about itself, and what it is told about its lanes, while it runs.
#include <algorithm>
#include <ctime>
#include <thread>

#include "base/shortage.h"
#include "handler/registry.h"
#include "service/implementation.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

constexpr Duration observe_interval = seconds(1);
constexpr Duration detail_patience = milliseconds(500);
constexpr Duration control_patience = seconds(5);

std::uint32_t processors() { return std::max(1U, std::thread::hardware_concurrency()); }

Duration processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

/// Members that the group has given an assignment without a partition.
std::size_t idle_members(const Loops& loops) {
  return static_cast<std::size_t>(std::count_if(loops.begin(), loops.end(), [](const auto& loop) {
    return loop->stats().assigned.get() > 0 && loop->lanes().empty();
  }));
}

}  // namespace

std::vector<LaneView> Service::snapshot() const { return views_of(implementation_->loops()); }

void Service::Implementation::observe() {
  const auto now = SteadyClock::now();
  {
    MutexLock lock(mutex);
    if (now < next_observation) return;
    next_observation = now + observe_interval;
  }
  const auto current = loops();
  const auto lanes = views_of(current);
  const auto idle = idle_members(current);
  if (auto* downstream_called = called()) downstream_called->settle(now);
  report_refused_threads(lanes);
  MutexLock lock(mutex);
  history.observe(lanes, now);
  usage.observe(lanes, current.size(), idle, processor_time(), now);
}

void Service::Implementation::report_standstill(Duration length) {
  telemetry::warn("the process stood still",
                  {{"ms", length}, {"hint", "SIGSTOP, a suspended machine or no processor"}});
}

/// The lanes go on with the workers that they have.
void Service::Implementation::report_refused_threads(const std::vector<LaneView>& lanes) {
  std::uint64_t refused = 0;
  for (const auto& lane : lanes) refused += lane.refused_threads;
  if (refused > refused_threads)
    telemetry::log_repeating(telemetry::Level::warn, "worker refused", "a worker could not be started",
                             {{"refusals", refused - refused_threads}, {"error", *shortage_of(EAGAIN)}});
  refused_threads = refused;
}

void Service::Implementation::waits(std::string what) {
  MutexLock lock(mutex);
  waits_for = std::move(what);
}

/// What the handler calls; null until the service has started.
lane::Downstream* Service::Implementation::called() const {
  MutexLock lock(mutex);
  return waits_for.empty() ? downstream.get() : nullptr;
}

std::optional<DownstreamStatus> Service::Implementation::downstream_status() const {
  auto* downstream_called = called();
  if (downstream_called == nullptr) return std::nullopt;
  const auto now = SteadyClock::now();
  auto report = downstream_called->report(now);
  DownstreamStatus status{.name = downstream_called->name(),
                          .state = report.state,
                          .has_breaker = settings()->breaker.failures > 0,
                          .last_failure = std::move(report.last_failure),
                          .has_worked = report.has_worked,
                          .keeps_rejected = report.keeps_rejected,
                          .calls = std::move(report.calls),
                          .pace = rate->pace(now)};
  if (report.out_since) status.out = now - *report.out_since;
  return status;
}

const tracing::Tracer* Service::Implementation::spans() const {
  MutexLock lock(mutex);
  return waits_for.empty() ? tracer.get() : nullptr;
}

/// Once called() is there.
std::vector<const kafka::Renewals*> Service::Implementation::renewals() const {
  std::vector<const kafka::Renewals*> all;
  for (const handler::Handler* writer : {handler.get(), static_cast<handler::Handler*>(forward.get())})
    if (writer != nullptr && writer->renewals() != nullptr) all.push_back(writer->renewals());
  return all;
}

ReadinessLimits Service::Implementation::limits() const {
  ReadinessLimits limits;
  limits.stall = settings()->admin.ready.stall;
  const std::string& rebalance = config.client("max.poll.interval.ms");
  if (!rebalance.empty()) limits.rebalance = milliseconds(std::stoll(rebalance));
  return limits;
}

AdviceSettings Service::Implementation::advice_settings() const {
  AdviceSettings advised;
  advised.lanes = settings()->lanes;
  if (const auto requests = handler::resources_of(config.handler).requests)
    advised.connections = requests->at_once;
  advised.keeps_pace = rate != nullptr && rate->keeps_pace();
  advised.cores = processors();
  advised.least_span = advice_after;
  return advised;
}

Facts Service::Implementation::facts() const {
  const auto current = loops();
  const auto lanes = views_of(current);
  auto details = details_of(current, detail_patience);
  const auto now = SteadyClock::now();
  const auto since = [&](const lane::Relaxed<std::int64_t>& stamp) {
    return stamp.get() == 0 ? Duration::zero() : now - TimePoint(Duration(stamp.get()));
  };
  Facts facts;
  facts.stopping = stops.load() > 0;
  for (const auto& loop : current) {
    const auto& stats = loop->stats();
    facts.members.push_back({stats.assigned.get() > 0, since(stats.no_broker_since_ns),
                             since(stats.joining_since_ns), loop->broker_error()});
  }
  if (const auto watched = downstream_status(); watched && watched->out)
    facts.breaker = outage_in_words(*watched, wall_clock_ms());
  MutexLock lock(mutex);
  facts.starting = waits_for;
  for (const auto& lane : lanes)
    facts.lanes.push_back(
        {lane, history.without_progress(lane, now), history.held(lane, now), std::move(details[lane.epoch])});
  return facts;
}

Totals Service::Implementation::totals() const {
  Totals totals;
  for (const auto& loop : loops()) {
    const auto& stats = loop->stats();
    totals.assigned += stats.assigned.get();
    totals.revoked += stats.revoked.get();
    totals.lost += stats.lost.get();
    totals.commits += stats.commits_acknowledged.get();
    totals.commits_failed += stats.commits_failed.get();
  }
  return totals;
}

Readiness Service::readiness() const { return judge(implementation_->facts(), implementation_->limits()); }

ServiceStatus Service::status() const {
  const auto& self = *implementation_;
  auto facts = self.facts();
  ServiceStatus status;
  status.readiness = judge(facts, self.limits());
  status.group = self.config.client("group.id");
  status.uptime = SteadyClock::now() - self.created;
  status.members = facts.members.size();
  status.totals = self.totals();
  status.settings = self.settings()->lanes;
  status.cores = processors();
  status.processor = processor_time();
  status.downstream = self.downstream_status();
  const auto advised = self.advice_settings();
  MutexLock lock(self.mutex);
  status.advice = advise(self.usage.usage(), advised);
  for (auto& lane : facts.lanes)
    status.lanes.push_back({lane.view, self.history.rate(lane.view), self.history.dead_letter_rate(lane.view),
                            std::move(lane.detail)});
  return status;
}

ControlAnswer Service::control(const ControlRequest& request) {
  auto& self = *implementation_;
  return service::control(self.loops(), self.hand_pauses, request, control_patience);
}

}  // namespace laneway::service
