#include "service/lane_metrics.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "service/lane_view.h"
#include "service/pools/lane_pools.h"

namespace laneway::service {
namespace {

using lane::Lane;
using lane::State;
using telemetry::Family;
using telemetry::metric;
using telemetry::Sample;
using Labels = std::vector<std::pair<std::string, std::string>>;
using Lanes = std::vector<std::shared_ptr<const Lane>>;

Labels labels_of(const Lane& lane) {
  return {{"topic", lane.partition().topic}, {"partition", std::to_string(lane.partition().partition)}};
}

template <class Value>
Family per_lane(const telemetry::MetricInfo& info, const Lanes& lanes, Value value) {
  Family family(info);
  for (const auto& lane : lanes) {
    Sample sample;
    sample.labels = labels_of(*lane);
    sample.value = static_cast<double>(value(*lane));
    family.samples.push_back(std::move(sample));
  }
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
  for (const auto& lane : lanes) {
    for (std::size_t i = 0; i < handler::outcome_labels.size(); ++i) {
      Sample sample;
      sample.labels = labels_of(*lane);
      sample.labels.emplace_back("outcome", handler::outcome_labels[i]);
      sample.value = static_cast<double>(lane->stats().outcomes[i].get());
      family.samples.push_back(std::move(sample));
    }
  }
  return family;
}

/// A reason without a dead letter in this lane has no series.
Family dead_letters(const Lanes& lanes) {
  Family family(metric("dead_letters_total"));
  for (const auto& lane : lanes) {
    for (std::size_t i = 0; i < delivery::dead_letter_reasons; ++i) {
      const auto count = lane->stats().dead_letters[i].get();
      if (count == 0) continue;
      Sample sample;
      sample.labels = labels_of(*lane);
      sample.labels.emplace_back("reason", delivery::name(static_cast<delivery::DeadLetterReason>(i)));
      sample.value = static_cast<double>(count);
      family.samples.push_back(std::move(sample));
    }
  }
  return family;
}

Family states(const Lanes& lanes) {
  Family family(metric("lane_state"));
  for (const auto& lane : lanes) {
    const std::string_view now = state_in_words(lane->stats().state.get(), lane->stats().hold_bits.get());
    for (const auto* state : lane_states) {
      Sample sample;
      sample.labels = labels_of(*lane);
      sample.labels.emplace_back("state", state);
      sample.value = state == now ? 1 : 0;
      family.samples.push_back(std::move(sample));
    }
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
    Sample sample;
    sample.labels = {{"reason", kafka::renewal_reasons[i]}};
    for (const auto* producer : renewals)
      sample.value += static_cast<double>(producer->count(static_cast<kafka::Renewal>(i)));
    family.samples.push_back(std::move(sample));
  }
  return family;
}

std::vector<Family> journal_families(const lane::Journal& journal) {
  return {Family(metric("journal_lost_lines_total"), static_cast<double>(journal.lost_lines())),
          Family(metric("journal_reopen_failed"), journal.reopen_failed() ? 1.0 : 0.0)};
}

Family silence_family(const lane::Silences& silences) {
  Family family(metric("partition_silence_steps_total"));
  for (std::size_t i = 0; i < lane::silence_steps.size(); ++i) {
    Sample sample;
    sample.labels = {{"step", lane::silence_steps[i]}};
    sample.value = static_cast<double>(silences.count(static_cast<lane::SilenceStep>(i)));
    family.samples.push_back(std::move(sample));
  }
  return family;
}

Family span_family(const tracing::SpanExporter::Counts& counts) {
  Family family(metric("trace_spans_total"));
  const auto add = [&](const char* result, std::uint64_t count) {
    Sample sample;
    sample.labels = {{"result", result}};
    sample.value = static_cast<double>(count);
    family.samples.push_back(std::move(sample));
  };
  add("exported", counts.exported);
  add("dropped", counts.dropped);
  add("failed", counts.failed);
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
    Sample sample;
    sample.labels = {{"downstream", one.downstream->name()}, {"pool", one.pool}};
    sample.value = report.limit;
    limits.samples.push_back(sample);
    sample.value = report.in_flight;
    running.samples.push_back(sample);
    for (std::size_t i = 1; i < report.changes.size(); ++i) {
      sample.labels = {
          {"downstream", one.downstream->name()}, {"pool", one.pool}, {"reason", delivery::limit_reasons[i]}};
      sample.value = static_cast<double>(report.changes[i]);
      changes.samples.push_back(sample);
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
    Sample sample;
    sample.labels = {{"downstream", name}};
    sample.value = static_cast<double>(numbers.state);
    state.samples.push_back(sample);
    sample.value = numbers.pace;
    pace.samples.push_back(sample);
    for (std::size_t i = 0; i < delivery::call_outcomes.size(); ++i) {
      sample.labels = {{"downstream", name}, {"outcome", delivery::call_outcomes[i]}};
      sample.value = static_cast<double>(numbers.totals[i]);
      calls.samples.push_back(sample);
    }
  }
  return {std::move(state), std::move(pace), std::move(calls)};
}

std::vector<Family> loop_families(const std::vector<const lane::LoopStats*>& loops) {
  const auto sum = [&](auto get) {
    std::uint64_t total = 0;
    for (const auto* loop : loops) total += get(*loop);
    return static_cast<double>(total);
  };
  const auto labelled = [](const char* name, const char* value, double number) {
    Sample sample;
    sample.labels = {{name, value}};
    sample.value = number;
    return sample;
  };
  const auto histogram = [&](auto get) {
    Histogram::Snapshot total;
    for (const auto* loop : loops) {
      const auto one = get(*loop).snapshot();
      for (std::size_t i = 0; i < total.counts.size(); ++i) total.counts[i] += one.counts[i];
      total.sum += one.sum;
    }
    return telemetry::histogram_sample({}, total);
  };
  using Stats = lane::LoopStats;
  std::vector<Family> families;
  families.emplace_back(
      metric("commits_total"),
      std::vector<Sample>{
          labelled("result", "success", sum([](const Stats& s) { return s.commits_acknowledged.get(); })),
          labelled("result", "failure", sum([](const Stats& s) { return s.commits_failed.get(); }))});
  families.emplace_back(
      metric("rebalances_total"),
      std::vector<Sample>{labelled("kind", "assign", sum([](const Stats& s) { return s.assigned.get(); })),
                          labelled("kind", "revoke", sum([](const Stats& s) { return s.revoked.get(); })),
                          labelled("kind", "lost", sum([](const Stats& s) { return s.lost.get(); }))});
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
