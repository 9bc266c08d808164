#include "service/ready/readiness_metrics.h"

#include <algorithm>
#include <array>

#include "service/lanes/lane_metrics.h"

namespace laneway::service {
namespace {

using telemetry::Family;
using telemetry::metric;

telemetry::Labels labels_of(const LaneView& lane) {
  return {{"topic", lane.topic}, {"partition", std::to_string(lane.partition)}};
}

void add(std::vector<Family>& families, const telemetry::MetricInfo& info, const LaneView& lane,
         double value) {
  const auto family = std::find_if(families.begin(), families.end(),
                                   [&](const Family& one) { return one.name == info.name; });
  if (family != families.end()) family->add(labels_of(lane), value);
}

}  // namespace

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
  Family assignments(metric("members"));
  assignments.add({{"assignment", "partitions"}}, working);
  assignments.add({{"assignment", "empty"}}, empty);
  assignments.add({{"assignment", "none"}}, none);
  std::vector<Family> families{std::move(assignments)};
  if (!members.empty()) families.emplace_back(metric("without_broker_seconds"), to_seconds(longest));
  return families;
}

Family start_family(std::int64_t at_ms) {
  return Family(metric("process_start_timestamp_seconds"), static_cast<double>(at_ms) / 1000);
}

void add_lost_lanes(std::vector<Family>& families, const std::vector<LaneView>& lost) {
  const auto states = std::find_if(families.begin(), families.end(),
                                   [](const Family& one) { return one.name == "lane_state"; });
  for (const auto& lane : lost) {
    add(families, metric("lane_lag_records"), lane, static_cast<double>(lane.lag));
    add(families, metric("lane_committed_offset"), lane, static_cast<double>(lane.committed));
    add(families, metric("lane_delivered_offset"), lane, static_cast<double>(lane.delivered));
    if (states == families.end()) continue;
    for (const auto* state : lane_states) {
      auto labels = labels_of(lane);
      labels.emplace_back("state", state);
      states->add(std::move(labels), std::string_view(state) == "lost" ? 1 : 0);
    }
  }
}

}  // namespace laneway::service
