#include "service/status/families.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kafka/produce/renewals.h"
#include "service/lanes/lane_metrics.h"
#include "service/process/process_limits.h"

namespace laneway::service {
namespace {

using telemetry::Family;
using telemetry::Labels;
using telemetry::metric;

void append(std::vector<Family>& families, std::vector<Family> more) {
  std::move(more.begin(), more.end(), std::back_inserter(families));
}

/// A series for each value of the label.
Family labelled(const telemetry::MetricInfo& info, const char* label,
                const std::vector<std::pair<std::string_view, double>>& values) {
  Family family(info);
  for (const auto& [value, number] : values) family.add({{label, std::string(value)}}, number);
  return family;
}

/// The same for the names of a table. `count`: by the place in the table.
template <class Names, class Count>
Family counted(const telemetry::MetricInfo& info, const char* label, const Names& names, Count count) {
  Family family(info);
  for (std::size_t i = 0; i < names.size(); ++i) family.add({{label, names[i]}}, count(i));
  return family;
}

/// Of the handlers that write to Kafka, each producer once.
std::vector<Family> renewal_families(const std::vector<handler::Handler*>& handlers) {
  std::set<const kafka::Renewals*> producers;
  for (handler::Handler* writer : handlers)
    if (const auto* found = writer == nullptr ? nullptr : writer->renewals()) producers.insert(found);
  if (producers.empty()) return {};
  return {counted(metric("producer_renewals_total"), "reason", kafka::renewal_reasons, [&](std::size_t i) {
    std::uint64_t count = 0;
    for (const auto* producer : producers) count += producer->count(static_cast<kafka::Renewal>(i));
    return count;
  })};
}

std::vector<Family> journal_families(const lane::Journal& journal) {
  return {Family(metric("journal_lost_lines_total"), static_cast<double>(journal.lost_lines())),
          Family(metric("journal_reopen_failed"), journal.reopen_failed() ? 1.0 : 0.0)};
}

Family span_family(const tracing::SpanExporter::Counts& counts) {
  return labelled(metric("trace_spans_total"), "result",
                  {{"exported", static_cast<double>(counts.exported)},
                   {"dropped", static_cast<double>(counts.dropped)},
                   {"failed", static_cast<double>(counts.failed)}});
}

std::vector<Family> thread_families(const ExpectedThreads& expected) {
  std::vector<Family> families;
  if (const auto threads = process_threads())
    families.emplace_back(metric("process_threads"), static_cast<double>(*threads));
  families.emplace_back(metric("process_threads_expected"), static_cast<double>(expected.all));
  return families;
}

/// Of the downstreams whose number of workers adapts itself.
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

std::vector<Family> loop_families(const Loops& loops) {
  const auto sum = [&](auto get) {
    std::uint64_t total = 0;
    for (const auto& loop : loops) total += get(loop->stats());
    return static_cast<double>(total);
  };
  const auto histogram = [&](const telemetry::MetricInfo& info, auto get) {
    Histogram::Snapshot total;
    for (const auto& loop : loops) total += get(loop->stats()).snapshot();
    return Family(info, {telemetry::histogram_sample({}, total)});
  };
  using Stats = lane::LoopStats;
  std::vector<Family> families{
      labelled(metric("commits_total"), "result",
               {{"success", sum([](const Stats& s) { return s.commits_acknowledged.get(); })},
                {"failure", sum([](const Stats& s) { return s.commits_failed.get(); })}}),
      labelled(metric("rebalances_total"), "kind",
               {{"assign", sum([](const Stats& s) { return s.assigned.get(); })},
                {"revoke", sum([](const Stats& s) { return s.revoked.get(); })},
                {"lost", sum([](const Stats& s) { return s.lost.get(); })}})};
  families.emplace_back(metric("client_throttled_seconds_total"),
                        sum([](const Stats& s) { return s.throttled_ms.get(); }) / 1000);
  families.emplace_back(metric("assignment_repairs_total"),
                        sum([](const Stats& s) { return s.assignment_repairs.get(); }));
  families.push_back(histogram(metric("commit_latency_seconds"),
                               [](const Stats& s) -> const Histogram& { return s.commit_latency; }));
  families.push_back(
      histogram(metric("drain_seconds"), [](const Stats& s) -> const Histogram& { return s.drain; }));
  return families;
}

}  // namespace

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

Family reason_family(const Readiness& readiness) {
  std::array<double, index_of(ReasonCode::count)> counts{};
  for (const auto& reason : readiness.reasons) ++counts[index_of(reason.code)];
  Family family(metric("not_ready_reasons"));
  for (const auto& row : reason_names)
    family.add({{"reason", std::string(row.name)}}, counts[index_of(row.code)]);
  return family;
}

std::vector<Family> member_families(const std::vector<MemberFacts>& members) {
  double working = 0, empty = 0, none = 0;
  Duration longest{};
  for (const auto& member : members) {
    (!member.assigned ? none : member.idle() ? empty : working) += 1;
    longest = std::max(longest, member.no_broker);
  }
  std::vector<Family> families{
      labelled(metric("members"), "assignment", {{"partitions", working}, {"empty", empty}, {"none", none}})};
  if (!members.empty()) families.emplace_back(metric("without_broker_seconds"), to_seconds(longest));
  return families;
}

std::vector<Family> families_of(const RunningParts& parts, const StatusObserver& observer,
                                const Counting& counting) {
  Lanes lanes;
  std::vector<LaneView> views;
  for (std::size_t member = 0; member < parts.loops.size(); ++member)
    for (auto& lane : parts.loops[member]->lanes()) {
      views.push_back(view_of(*lane, member));
      lanes.push_back(std::move(lane));
    }
  auto families = lane_families(lanes, views, observer.lost(parts, views));
  if (parts.stages != nullptr)
    append(families, pool_families(views, pool_statuses(*parts.stages, *parts.settings, {}, {})));
  append(families, loop_families(parts.loops));
  // The series of a lane would end before anybody had read what its end adds to it.
  families.emplace_back(metric("abandoned_total"), static_cast<double>(parts.abandoned));
  families.push_back(
      counted(metric("partition_silence_steps_total"), "step", lane::silence_steps,
              [&](std::size_t i) { return counting.silences.count(static_cast<lane::SilenceStep>(i)); }));
  if (const auto watched = parts.downstreams(); !watched.empty()) {
    append(families, downstream_families(watched, views, SteadyClock::now()));
    append(families, limit_families(watched));
  }
  append(families, renewal_families(counting.handlers));
  if (counting.journal != nullptr) append(families, journal_families(*counting.journal));
  if (counting.spans != nullptr) families.push_back(span_family(counting.spans->counts()));
  append(families, thread_families(expected_threads(*parts.settings, lanes.size(), counting.brokers)));
  families.push_back(reason_family(observer.readiness(parts, views)));
  append(families, member_families(members_of(parts.loops)));
  families.emplace_back(metric("process_start_timestamp_seconds"),
                        static_cast<double>(observer.created_ms()) / 1000);
  return families;
}

}  // namespace laneway::service
