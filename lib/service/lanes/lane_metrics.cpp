#include "service/lanes/lane_metrics.h"
#include "lane/position/silences.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "service/lane_view.h"
#include "service/pools/lane_pools.h"

namespace laneway::service {
namespace {

using lane::Lane;
using telemetry::Family;
using telemetry::Labels;
using telemetry::metric;
using telemetry::Sample;
using Lanes = std::vector<std::shared_ptr<const Lane>>;

Labels labels_of(const Lane& lane) {
  return {{"topic", lane.partition().topic}, {"partition", std::to_string(lane.partition().partition)}};
}

Labels labels_of(const Lane& lane, const char* name, std::string_view value) {
  auto labels = labels_of(lane);
  labels.emplace_back(name, value);
  return labels;
}

template <class Value>
Family per_lane(const telemetry::MetricInfo& info, const Lanes& lanes, Value value) {
  Family family(info);
  for (const auto& lane : lanes) family.add(labels_of(*lane), value(*lane));
  return family;
}

template <class Get>
Family histogram_per_lane(const telemetry::MetricInfo& info, const Lanes& lanes, Get get) {
  Family family(info);
  for (const auto& lane : lanes)
    family.samples.push_back(telemetry::histogram_sample(labels_of(*lane), get(*lane)));
  return family;
}

Family jobs(const Lanes& lanes) {
  Family family(metric("pool_jobs_total"));
  for (const auto& lane : lanes)
    for (std::size_t i = 0; i < handler::outcome_labels.size(); ++i)
      family.add(labels_of(*lane, "outcome", handler::outcome_labels[i]), lane->stats().outcomes[i].get());
  return family;
}

/// A reason without a dead letter in this lane has no series.
Family dead_letters(const Lanes& lanes) {
  Family family(metric("dead_letters_total"));
  for (const auto& lane : lanes) {
    for (std::size_t i = 0; i < delivery::dead_letter_reasons; ++i) {
      const auto reason = delivery::name(static_cast<delivery::DeadLetterReason>(i));
      const auto count = lane->stats().dead_letters[i].get();
      if (count > 0) family.add(labels_of(*lane, "reason", reason), count);
    }
  }
  return family;
}

Family states(const Lanes& lanes) {
  Family family(metric("lane_state"));
  for (const auto& lane : lanes) {
    const std::string_view now = state_in_words(lane->stats().state.get(), lane->stats().hold_bits.get());
    for (const auto* state : lane_states) family.add(labels_of(*lane, "state", state), state == now ? 1 : 0);
  }
  return family;
}

double oldest_age(const Lane& lane) {
  const auto since = lane.stats().oldest.due_ns.get();
  if (since == 0) return 0;
  return std::max(to_seconds(SteadyClock::now() - TimePoint(Duration(since))), 0.0);
}

}  // namespace

std::vector<Family> lane_families(const Lanes& lanes) {
  std::vector<Family> families;
  const auto add = [&](const telemetry::MetricInfo& info, auto value) {
    families.push_back(per_lane(info, lanes, value));
  };
  families.push_back(jobs(lanes));
  families.push_back(dead_letters(lanes));
  families.push_back(states(lanes));
  add(metric("pool_queued_total"), [](const Lane& l) { return l.stats().submissions.accepted.get(); });
  add(metric("pool_rejections_total"), [](const Lane& l) { return l.stats().submissions.rejections.get(); });
  add(metric("pool_inflight"), [](const Lane& l) { return pools_of(l).in_flight; });
  add(metric("pool_queue_depth"), [](const Lane& l) { return pools_of(l).queued; });
  add(metric("pool_queue_capacity"), [](const Lane& l) { return pools_of(l).queue_capacity; });
  add(metric("pool_workers"), [](const Lane& l) { return pools_of(l).threads; });
  add(metric("pool_workers_active"), [](const Lane& l) { return pools_of(l).active; });
  add(metric("pool_slots"), [](const Lane& l) { return pools_of(l).slots; });
  add(metric("pool_slots_active"), [](const Lane& l) { return pools_of(l).used(); });
  add(metric("pool_stuck"), [](const Lane& l) { return pools_of(l).stuck; });
  families.push_back(histogram_per_lane(metric("pool_duration_seconds"), lanes, durations_of));
  families.push_back(histogram_per_lane(metric("pool_queue_wait_seconds"), lanes, queue_waits_of));
  families.push_back(histogram_per_lane(metric("lane_resume_latency_seconds"), lanes,
                                        [](const Lane& l) { return l.stats().resume_latency.snapshot(); }));
  add(metric("lane_lag_records"), [](const Lane& l) { return l.stats().lag.get(); });
  add(metric("lane_finished_beyond_commit_records"),
      [](const Lane& l) { return l.stats().finished_beyond.get(); });
  add(metric("lane_records_expired_total"), [](const Lane& l) { return l.stats().expired.get(); });
  add(metric("lane_expiry_near"), [](const Lane& l) { return l.stats().expiry_near.get() ? 1 : 0; });
  add(metric("lane_oldest_incomplete_seconds"), oldest_age);
  add(metric("lane_committed_offset"), [](const Lane& l) { return l.stats().committed.offset.get(); });
  add(metric("lane_delivered_offset"), [](const Lane& l) { return l.stats().delivered_offset.get(); });
  add(metric("lane_holds_total"), [](const Lane& l) { return l.stats().holds.get(); });
  add(metric("lane_held_seconds_total"),
      [](const Lane& l) { return to_seconds(Duration(l.stats().held_ns.get())); });
  add(metric("lane_pauses_total"), [](const Lane& l) { return l.stats().pauses.get(); });
  add(metric("lane_paused_seconds_total"),
      [](const Lane& l) { return to_seconds(Duration(l.stats().paused_ns.get())); });
  add(metric("duplicates_suppressed_total"), [](const Lane& l) { return l.stats().suppressed.get(); });
  add(metric("retry_topics_total"), [](const Lane& l) { return l.stats().retry_topics.get(); });
  add(metric("retries_scheduled"), [](const Lane& l) { return l.stats().waiting_retries.get(); });
  add(metric("fetched_bytes_total"), [](const Lane& l) { return l.stats().fetched_bytes.get(); });
  add(metric("processed_bytes_total"), [](const Lane& l) { return l.stats().processed_bytes.get(); });
  add(metric("memory_records_bytes"), [](const Lane& l) { return l.stats().record_bytes.get(); });
  return families;
}

Family renewal_family(const std::vector<const kafka::Renewals*>& renewals) {
  Family family(metric("producer_renewals_total"));
  for (std::size_t i = 0; i < kafka::renewal_reasons.size(); ++i) {
    std::uint64_t count = 0;
    for (const auto* producer : renewals) count += producer->count(static_cast<kafka::Renewal>(i));
    family.add({{"reason", kafka::renewal_reasons[i]}}, count);
  }
  return family;
}

std::vector<Family> journal_families(const lane::Journal& journal) {
  return {Family(metric("journal_lost_lines_total"), static_cast<double>(journal.lost_lines())),
          Family(metric("journal_reopen_failed"), journal.reopen_failed() ? 1.0 : 0.0)};
}

Family silence_family(const lane::Silences& silences) {
  Family family(metric("partition_silence_steps_total"));
  for (std::size_t i = 0; i < lane::silence_steps.size(); ++i)
    family.add({{"step", lane::silence_steps[i]}}, silences.count(static_cast<lane::SilenceStep>(i)));
  return family;
}

Family span_family(const tracing::SpanExporter::Counts& counts) {
  Family family(metric("trace_spans_total"));
  family.add({{"result", "exported"}}, counts.exported);
  family.add({{"result", "dropped"}}, counts.dropped);
  family.add({{"result", "failed"}}, counts.failed);
  return family;
}

std::vector<Family> thread_families(const ExpectedThreads& expected) {
  std::vector<Family> families;
  if (const auto threads = process_threads())
    families.emplace_back(metric("process_threads"), static_cast<double>(*threads));
  families.emplace_back(metric("process_threads_expected"), static_cast<double>(expected.all));
  return families;
}

std::vector<Family> limit_families(const std::vector<WatchedDownstream>& watched) {
  Family limits(metric("concurrency_limit"));
  Family running(metric("concurrency_in_flight"));
  Family changes(metric("concurrency_limit_changes_total"));
  for (const auto& one : watched) {
    if (one.adaptive == nullptr) continue;
    const auto report = one.adaptive->report();
    const Labels labels{{"downstream", one.downstream->name()}, {"pool", one.pool}};
    limits.add(labels, report.limit);
    running.add(labels, report.in_flight);
    for (std::size_t i = 1; i < report.changes.size(); ++i) {
      auto with_reason = labels;
      with_reason.emplace_back("reason", delivery::limit_reasons[i]);
      changes.add(std::move(with_reason), report.changes[i]);
    }
  }
  if (limits.samples.empty()) return {};
  return {std::move(limits), std::move(running), std::move(changes)};
}

std::vector<Family> downstream_families(const std::vector<WatchedDownstream>& watched,
                                        const std::vector<LaneView>& lanes, TimePoint now) {
  struct Numbers {
    delivery::Breaker::State state{};
    double pace = 0;
    delivery::CallTally::Totals totals{};
  };
  std::map<std::string, Numbers> by_name;
  for (const auto& one : watched) {
    const auto report = one.downstream->report(now);
    auto& numbers = by_name[one.downstream->name()];
    if (any_waits(lanes, one.pool)) numbers.state = std::max(numbers.state, report.state);
    numbers.pace += one.rate->pace(now);
    for (std::size_t i = 0; i < report.totals.size(); ++i) numbers.totals[i] += report.totals[i];
  }
  Family state(metric("breaker_state"));
  Family pace(metric("downstream_pace"));
  Family calls(metric("downstream_calls_total"));
  for (const auto& [name, numbers] : by_name) {
    state.add({{"downstream", name}}, delivery::row_of(numbers.state).number);
    pace.add({{"downstream", name}}, numbers.pace);
    for (std::size_t i = 0; i < delivery::call_outcomes.size(); ++i)
      calls.add({{"downstream", name}, {"outcome", delivery::call_outcomes[i]}}, numbers.totals[i]);
  }
  return {std::move(state), std::move(pace), std::move(calls)};
}

std::vector<Family> loop_families(const std::vector<const lane::LoopStats*>& loops) {
  const auto sum = [&](auto get) {
    std::uint64_t total = 0;
    for (const auto* loop : loops) total += get(*loop);
    return static_cast<double>(total);
  };
  const auto histogram = [&](auto get) {
    Histogram::Snapshot total;
    for (const auto* loop : loops) total += get(*loop).snapshot();
    return telemetry::histogram_sample({}, total);
  };
  using Stats = lane::LoopStats;
  Family commits(metric("commits_total"));
  commits.add({{"result", "success"}}, sum([](const Stats& s) { return s.commits_acknowledged.get(); }));
  commits.add({{"result", "failure"}}, sum([](const Stats& s) { return s.commits_failed.get(); }));
  Family rebalances(metric("rebalances_total"));
  rebalances.add({{"kind", "assign"}}, sum([](const Stats& s) { return s.assigned.get(); }));
  rebalances.add({{"kind", "revoke"}}, sum([](const Stats& s) { return s.revoked.get(); }));
  rebalances.add({{"kind", "lost"}}, sum([](const Stats& s) { return s.lost.get(); }));
  std::vector<Family> families{std::move(commits), std::move(rebalances)};
  families.emplace_back(metric("client_throttled_seconds_total"),
                        sum([](const Stats& s) { return s.throttled_ms.get(); }) / 1000);
  families.emplace_back(metric("assignment_repairs_total"),
                        sum([](const Stats& s) { return s.assignment_repairs.get(); }));
  families.emplace_back(
      metric("commit_latency_seconds"),
      std::vector<Sample>{histogram([](const Stats& s) -> const Histogram& { return s.commit_latency; })});
  families.emplace_back(
      metric("drain_seconds"),
      std::vector<Sample>{histogram([](const Stats& s) -> const Histogram& { return s.drain; })});
  return families;
}

}  // namespace laneway::service
