#include "lane/shared/downstream.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {

namespace {

const std::string too_slow = "calls take longer than breaker.slow";
constexpr Duration between_snapshots = seconds(60);
constexpr std::uint64_t enough_calls = 64;  // for a snapshot, and to see how long hardly any takes

/// What an outage, or a flood of rejections, means for the records.
std::string effect_on_records(Downstream::Calls calls) {
  switch (calls) {
    case Downstream::Calls::of_service:
      return "lanes are held";
    case Downstream::Calls::of_pool:
      return "records of this pool wait";
    case Downstream::Calls::of_subscriber:
      return "records of this subscriber wait";
  }
  return {};
}

std::string what_follows(Downstream::Calls calls) {
  const auto effect = effect_on_records(calls);
  switch (calls) {
    case Downstream::Calls::of_service:
      return effect + " and no record is given up until calls work again; see docs/outages.md";
    case Downstream::Calls::of_pool:
      return effect +
             " and no record is given up until calls work again; records that do not need this pool go on "
             "while their lanes have room; see docs/pools.md";
    case Downstream::Calls::of_subscriber:
      return effect +
             " until calls work again, or for each.longest_wait; records of the other subscribers go on "
             "while their lanes have room; see docs/pools.md";
  }
  return {};
}

std::uint64_t calls_of(const Histogram::Snapshot& times) {
  return std::accumulate(times.counts.begin(), times.counts.end(), std::uint64_t{0});
}

/// What at most one of 64 calls since `before` exceeds, up to a power of two; zero before the first call.
Duration usual_at_most(const Histogram::Snapshot& times, const Histogram::Snapshot& before) {
  const auto all = calls_of(times) - calls_of(before);
  std::uint64_t longer = 0;
  for (auto bucket = Histogram::buckets; bucket-- > 0;) {
    longer += times.counts[bucket] - before.counts[bucket];
    if (longer * enough_calls <= all) continue;
    return bucket < Histogram::bounded_buckets ? Histogram::upper_bound(bucket) : Duration::max() / 2;
  }
  return {};
}

}  // namespace

void Downstream::change(DownstreamRules rules, TimePoint now) {
  MutexLock lock(mutex_);
  const auto before = breaker_.state();
  breaker_.change(rules.breaker, now);
  slow_.store(rules.slow > Duration::zero() ? rules.slow : Duration::max(), std::memory_order_relaxed);
  if (most_rejections_ != rules.most_rejections) flood_guard_ = delivery::FloodGuard(rules.most_rejections);
  most_rejections_ = rules.most_rejections;
  log_change(before, {"why", "the breaker's settings were changed"}, now);
}

delivery::Breaker::State Downstream::state() const {
  MutexLock lock(mutex_);
  return breaker_.state();
}

std::optional<TimePoint> Downstream::out_since() const {
  if (closed()) return std::nullopt;
  MutexLock lock(mutex_);
  if (breaker_.state() == delivery::Breaker::State::closed) return std::nullopt;
  return breaker_.out_since();
}

Downstream::Report Downstream::report(TimePoint now) {
  MutexLock lock(mutex_);
  count_successes(now);
  Report report;
  report.state = breaker_.state();
  if (report.state != delivery::Breaker::State::closed) report.out_since = breaker_.out_since();
  report.last_failure = last_failure_;
  report.totals = tally_.totals();
  report.has_worked = report.totals[static_cast<std::size_t>(delivery::CallOutcome::success)] > 0;
  report.keeps_rejected = flood_guard_.closed(now, done_);
  report.calls = tally_.report(now, report.out_since);
  return report;
}

void Downstream::settle(TimePoint now) {
  MutexLock lock(mutex_);
  const auto before = breaker_.state();
  count_successes(now);
  breaker_.look(now, running());
  forget_old_times(now);
  if (before == delivery::Breaker::State::closed)
    log_change(before, {"error", last_failure_}, now);
  else
    log_change(before, {"why", "calls succeed again, and no other record has failed since"}, now);
}

/// Few calls, as in a quiet hour, forget nothing.
void Downstream::forget_old_times(TimePoint now) {
  if (now - newer_times_at_ < between_snapshots) return;
  const auto times = times_.snapshot();
  if (calls_of(times) - calls_of(newer_times_) < enough_calls) return;
  older_times_ = std::exchange(newer_times_, times);
  newer_times_at_ = now;
}

void Downstream::count_successes(TimePoint now) {
  const auto counted = counted_.exchange(0, std::memory_order_relaxed);
  const auto calls = counted & 0xffffffff;
  done_ += counted >> 32;
  tally_.succeeded(now, calls);
  // Calls that ended after the breaker opened were begun before: they are no answers to its probes.
  if (breaker_.state() == delivery::Breaker::State::closed) breaker_.succeeded(now, calls);
  overtaken_.note(now, tally_.totals()[static_cast<std::size_t>(delivery::CallOutcome::success)]);
}

std::uint32_t Downstream::room(const void* who, TimePoint now, bool only_suspects) {
  if (closed()) return delivery::Breaker::unlimited;
  MutexLock lock(mutex_);
  (only_suspects ? turn_ : turn_of_suspects_).leave(who);
  auto& turn = only_suspects ? turn_of_suspects_ : turn_;
  turn.ask(who, now);
  if (only_suspects && turn_.first(now)) return 0;
  return turn.first(now) == who ? breaker_.room(now) : 0;
}

void Downstream::leave(const void* who) {
  MutexLock lock(mutex_);
  turn_.leave(who);
  turn_of_suspects_.leave(who);
}

bool Downstream::admit(const void* who, std::uint32_t calls, TimePoint now) {
  if (admit_while_closed()) return true;
  MutexLock lock(mutex_);
  if (calls > breaker_.room(now)) return false;
  tasks_.fetch_add(1, std::memory_order_relaxed);
  turn_.leave(who);
  turn_of_suspects_.leave(who);
  const auto before = breaker_.state();
  breaker_.begin(now, calls);
  log_change(before, {"why", "a probe begins"}, now);
  return true;
}

void Downstream::worked(std::uint32_t calls, Duration took, TimePoint now) {
  const bool slow = took > slow_.load(std::memory_order_relaxed);
  if (closed() && !slow) {  // of a task with failures, so `took` is only an average
    counted_.fetch_add(calls, std::memory_order_relaxed);
    return;
  }
  MutexLock lock(mutex_);
  if (slow) {
    breaker_.ended(calls - 1);
    return fail({.reason = too_slow}, now);
  }
  const auto before = breaker_.state();
  breaker_.succeeded(now, calls);
  tally_.succeeded(now, calls);
  log_change(before, {"why", "calls succeed again"}, now);
}

void Downstream::failed(const FailedCall& call, TimePoint now) {
  MutexLock lock(mutex_);
  fail(call, now);
}

bool Downstream::was_overtaken(const FailedCall& call, TimePoint now) {
  if (call.record == delivery::CallWindow::nobody) return false;
  return overtaken_.add({now - call.took, now},
                        {.usual_at_most = usual_at_most(times_.snapshot(), older_times_),
                         .ended = worked_at_.load(std::memory_order_relaxed),
                         .began = worked_since_.load(std::memory_order_relaxed)});
}

void Downstream::fail(const FailedCall& call, TimePoint now) {
  const auto before = breaker_.state();
  count_successes(now);
  tally_.failed(now, call.kind.empty() ? delivery::failure_kind(call.reason, name_) : call.kind);
  const auto* blame = call.before;
  const bool suspect = call.suspect || (blame != nullptr && blame->suspect(breaker_));
  if (suspect || (before == delivery::Breaker::State::closed && was_overtaken(call, now)))
    breaker_.failed_as_expected(now - call.took, now);
  else
    breaker_.failed(
        now, {.record = call.record,
              .repeated = blame != nullptr && blame->repeats(breaker_),
              .after = call.after,
              // A failure of no record is certainly the downstream's.
              .beside = call.record == delivery::CallWindow::nobody ? 0 : std::max(running(), 1U) - 1});
  last_failure_ = call.reason;
  if (breaker_.state() == delivery::Breaker::State::closed)
    log_change(before, {"why", "only records that fail while others work are left to probe with"}, now);
  else
    log_change(before, {"error", call.reason}, now);
}

void Downstream::throttled(const std::string& reason, TimePoint now) {
  MutexLock lock(mutex_);
  tally_.failed(now, delivery::failure_kind(reason, name_));
}

void Downstream::ended(std::uint32_t calls) {
  if (closed()) return;
  MutexLock lock(mutex_);
  breaker_.ended(calls);
}

void Downstream::recovered(std::uint32_t failures) {
  MutexLock lock(mutex_);
  breaker_.recovered(failures);
}

delivery::Blame::Step Downstream::judge(delivery::Blame& blame, const delivery::FailedAttempt& attempt,
                                        const delivery::FailureRules& rules) {
  MutexLock lock(mutex_);
  return blame.failed(breaker_, attempt, rules);
}

delivery::Blame::Step Downstream::reconsider(delivery::Blame& blame, const delivery::FailureRules& rules,
                                             TimePoint now, double random) {
  MutexLock lock(mutex_);
  count_successes(now);
  return blame.reconsider(breaker_, rules, now, random);
}

bool Downstream::admits_rejection(TimePoint now) {
  MutexLock lock(mutex_);
  count_successes(now);
  if (flood_guard_.admit(now, done_)) return true;
  telemetry::log_repeating(
      telemetry::Level::error, "flood of rejections", "flood of rejections",
      {{"downstream", name_},
       {"pool", pool_},
       {"max_rate", most_rejections_},
       {"hint",
        "far more records are rejected than done, so the records are probably not the cause: they are tried "
        "again, and " +
            effect_on_records(calls_) + "; see dead_letter.max_rate"}});
  return false;
}

void Downstream::log_change(delivery::Breaker::State before, const telemetry::Field& cause, TimePoint now) {
  const auto state = breaker_.state();
  if (state == before) return;
  const bool was_closed = before == delivery::Breaker::State::closed;
  const bool is_closed = state == delivery::Breaker::State::closed;
  closed_.store(is_closed, std::memory_order_relaxed);
  // Probes come and go; operators want to know when the outage began and ended.
  const auto level = was_closed  ? telemetry::Level::warn
                     : is_closed ? telemetry::Level::info
                                 : telemetry::Level::debug;
  telemetry::log(level, std::string("breaker ") + delivery::name_of(state),
                 {{"downstream", name_},
                  {"pool", pool_},
                  cause,
                  {is_closed ? "out_ms" : "", now - breaker_.out_since()},
                  {was_closed ? "hint" : "", what_follows(calls_)}});
}

}  // namespace laneway::lane
