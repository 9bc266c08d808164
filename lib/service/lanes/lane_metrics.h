// The numbers of lanes and of their named pools as metric families. Private to lib/service. Threads: any.
#pragma once

#include <memory>
#include <vector>

#include "service/lane_view.h"
#include "service/pools/pool_status.h"
#include "telemetry/metrics.h"

namespace laneway::service {

using Lanes = std::vector<std::shared_ptr<const lane::Lane>>;

/// The values of the label `state`. A lost lane is one of a partition that the client lost, until its member
/// has an assignment again (ready/lost_lanes.h).
inline constexpr const char* lane_states[] = {"assigned",  "running",  "held", "paused",
                                              "suspended", "draining", "lost"};

/// `views`: of the lanes, in their order. `lost`: lanes of which the last known lag and offsets are exported.
std::vector<telemetry::Family> lane_families(const Lanes& lanes, const std::vector<LaneView>& views,
                                             const std::vector<LaneView>& lost = {});
/// Empty without named pools.
std::vector<telemetry::Family> pool_families(const std::vector<LaneView>& lanes,
                                             const std::vector<PoolStatus>& pools);

}  // namespace laneway::service
