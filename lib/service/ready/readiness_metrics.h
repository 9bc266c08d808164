// Metric families about whether the service does its work: for alerts on what /readyz reports. Private to
// this folder. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "service/lane_view.h"
#include "service/ready/readiness.h"
#include "telemetry/metrics.h"

namespace laneway::service {

/// How often each reason applies; a reason that does not apply is 0, so each has a series.
telemetry::Family reason_family(const Readiness& readiness);
/// The assignments and the connections of the members; no connections before there are members.
std::vector<telemetry::Family> member_families(const std::vector<MemberFacts>& members);
/// `at_ms`: when the process started, since 1970.
telemetry::Family start_family(std::int64_t at_ms);
/// Adds the last known lag, offsets and the state "lost" of `lost` to the families of the lanes.
void add_lost_lanes(std::vector<telemetry::Family>& families, const std::vector<LaneView>& lost);

}  // namespace laneway::service
