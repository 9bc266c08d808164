#include "service/lanes/lane_metrics.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "lane/lane.h"

namespace laneway::service {
namespace {

using lane::PoolView;
using telemetry::Family;
using telemetry::Labels;
using telemetry::metric;
using telemetry::MetricInfo;

Labels labels_of(const LaneView& lane) {
  return {{"topic", lane.topic}, {"partition", std::to_string(lane.partition)}};
}

Labels labels_of(const LaneView& lane, const char* name, std::string_view value) {
  auto labels = labels_of(lane);
  labels.emplace_back(name, value);
  return labels;
}

struct Subject {
  const lane::Lane& lane;
  const lane::LaneStats& stats;
  const LaneView& view;
};
using Subjects = std::vector<Subject>;

/// A metric whose value is one field.
template <class Owner, class Number>
struct Row {
  const MetricInfo& metric;
  Number Owner::*field;
};

constexpr Row<LaneView, std::uint32_t> pool_rows[] = {
    {metric("pool_inflight"), &LaneView::in_flight},
    {metric("pool_queue_depth"), &LaneView::queued_in_pools},
    {metric("pool_queue_capacity"), &LaneView::queue_capacity},
    {metric("pool_workers"), &LaneView::threads},
    {metric("pool_workers_active"), &LaneView::active_threads},
    {metric("pool_slots"), &LaneView::workers},
    {metric("pool_stuck"), &LaneView::stuck},
};

constexpr Row<lane::LaneStats, lane::Relaxed<std::uint64_t>> lane_rows[] = {
    {metric("lane_finished_beyond_commit_records"), &lane::LaneStats::finished_beyond},
    {metric("lane_records_expired_total"), &lane::LaneStats::expired},
    {metric("lane_holds_total"), &lane::LaneStats::holds},
    {metric("lane_pauses_total"), &lane::LaneStats::pauses},
    {metric("duplicates_suppressed_total"), &lane::LaneStats::suppressed},
    {metric("retry_topics_total"), &lane::LaneStats::retry_topics},
    {metric("parked_total"), &lane::LaneStats::parked},
    {metric("retries_scheduled"), &lane::LaneStats::waiting_retries},
    {metric("fetched_bytes_total"), &lane::LaneStats::fetched_bytes},
    {metric("processed_bytes_total"), &lane::LaneStats::processed_bytes},
    {metric("memory_records_bytes"), &lane::LaneStats::record_bytes},
};

/// Exported also for lost lanes.
constexpr Row<LaneView, std::int64_t> known_rows[] = {
    {metric("lane_lag_records"), &LaneView::lag},
    {metric("lane_committed_offset"), &LaneView::committed},
    {metric("lane_delivered_offset"), &LaneView::delivered},
};

Family jobs(const Subjects& lanes) {
  Family family(metric("pool_jobs_total"));
  for (const auto& lane : lanes)
    for (std::size_t i = 0; i < handler::outcome_labels.size(); ++i)
      family.add(labels_of(lane.view, "outcome", handler::outcome_labels[i]), lane.stats.outcomes[i].get());
  return family;
}

/// A reason without a dead letter in this lane has no series.
Family dead_letters(const Subjects& lanes) {
  Family family(metric("dead_letters_total"));
  for (const auto& lane : lanes)
    for (std::size_t i = 0; i < delivery::dead_letter_reasons; ++i) {
      const auto reason = delivery::name(static_cast<delivery::DeadLetterReason>(i));
      const auto count = lane.stats.dead_letters[i].get();
      if (count > 0) family.add(labels_of(lane.view, "reason", reason), count);
    }
  return family;
}

Family states(const Subjects& lanes, const std::vector<LaneView>& lost) {
  Family family(metric("lane_state"));
  const auto add = [&](const LaneView& lane, std::string_view now) {
    for (const auto* state : lane_states) family.add(labels_of(lane, "state", state), state == now ? 1 : 0);
  };
  for (const auto& lane : lanes) add(lane.view, lane.view.state_in_words());
  for (const auto& lane : lost) add(lane, "lost");
  return family;
}

double oldest_age(const Subject& lane) {
  const auto since = lane.stats.oldest.due_ns.get();
  if (since == 0) return 0;
  return std::max(to_seconds(SteadyClock::now() - TimePoint(Duration(since))), 0.0);
}

}  // namespace

std::vector<Family> lane_families(const Lanes& lanes, const std::vector<LaneView>& views,
                                  const std::vector<LaneView>& lost) {
  Subjects subjects;
  for (std::size_t i = 0; i < lanes.size(); ++i) subjects.push_back({*lanes[i], lanes[i]->stats(), views[i]});
  std::vector<Family> families{jobs(subjects), dead_letters(subjects), states(subjects, lost)};
  const auto add = [&](const MetricInfo& info, auto value) {
    Family& family = families.emplace_back(info);
    for (const auto& one : subjects) family.add(labels_of(one.view), value(one));
  };
  const auto add_histogram = [&](const MetricInfo& info, auto get) {
    Family& family = families.emplace_back(info);
    for (const auto& one : subjects)
      family.samples.push_back(telemetry::histogram_sample(labels_of(one.view), get(one.lane)));
  };
  for (const auto& row : pool_rows) add(row.metric, [&](const Subject& l) { return l.view.*row.field; });
  for (const auto& row : lane_rows)
    add(row.metric, [&](const Subject& l) { return (l.stats.*row.field).get(); });
  for (const auto& row : known_rows) {
    add(row.metric, [&](const Subject& l) { return l.view.*row.field; });
    for (const auto& one : lost) families.back().add(labels_of(one), one.*row.field);
  }
  add(metric("pool_queued_total"), [](const Subject& l) { return l.stats.submissions.accepted.get(); });
  add(metric("pool_rejections_total"), [](const Subject& l) { return l.stats.submissions.rejections.get(); });
  add(metric("pool_slots_active"), [](const Subject& l) { return l.view.used_workers(); });
  add(metric("lane_expiry_near"), [](const Subject& l) { return l.stats.expiry_near.get() ? 1 : 0; });
  add(metric("lane_oldest_incomplete_seconds"), oldest_age);
  add(metric("lane_held_seconds_total"),
      [](const Subject& l) { return to_seconds(Duration(l.stats.held_ns.get())); });
  add(metric("lane_paused_seconds_total"),
      [](const Subject& l) { return to_seconds(Duration(l.stats.paused_ns.get())); });
  add_histogram(metric("pool_duration_seconds"), durations_of);
  add_histogram(metric("pool_queue_wait_seconds"), queue_waits_of);
  add_histogram(metric("lane_resume_latency_seconds"),
                [](const lane::Lane& l) { return l.stats().resume_latency.snapshot(); });
  return families;
}

std::vector<Family> pool_families(const std::vector<LaneView>& lanes, const std::vector<PoolStatus>& pools) {
  if (pools.empty()) return {};
  Family helpers(metric("named_pool_helpers"));
  Family subscribers(metric("named_pool_subscribers"));
  Family out(metric("named_pool_subscribers_out"));
  Family parked(metric("parked_records"));
  Family oldest(metric("parked_oldest_seconds"));
  for (const auto& pool : pools) {
    helpers.add({{"pool", pool.name}}, pool.helped_by.size());
    subscribers.add({{"pool", pool.name}},
                    pool.subscribers ? static_cast<double>(pool.subscribers->known) : 0);
    out.add({{"pool", pool.name}}, pool.subscribers ? static_cast<double>(pool.subscribers->out) : 0);
    parked.add({{"pool", pool.name}}, static_cast<double>(pool.parked.records));
    oldest.add({{"pool", pool.name}}, to_seconds(pool.parked.oldest));
  }
  std::vector<Family> families{std::move(helpers), std::move(subscribers), std::move(out), std::move(parked),
                               std::move(oldest)};
  const auto add = [&](const MetricInfo& info, auto value) {
    Family& family = families.emplace_back(info);
    for (const auto& lane : lanes)
      for (const auto& pool : lane.pools) family.add(labels_of(lane, "pool", pool.name), value(pool));
  };
  add(metric("named_pool_inflight"), [](const PoolView& p) { return p.pool.in_flight + p.retries_running; });
  add(metric("named_pool_queue_depth"), [](const PoolView& p) { return p.pool.queued; });
  add(metric("named_pool_waiting"), [](const PoolView& p) { return p.waiting; });
  add(metric("named_pool_slots"), [](const PoolView& p) { return p.limits.workers; });
  add(metric("named_pool_slots_borrowed"), [](const PoolView& p) { return p.pool.borrowed; });
  add(metric("named_pool_retries"), [](const PoolView& p) { return p.retries_queued + p.retries_running; });
  add(metric("named_pool_oldest_queued_seconds"),
      [](const PoolView& p) { return to_seconds(p.pool.oldest); });
  add(metric("named_pool_attempts_total"), [](const PoolView& p) { return p.done; });
  add(metric("named_pool_work_seconds_total"), [](const PoolView& p) { return to_seconds(p.work); });
  return families;
}

}  // namespace laneway::service
