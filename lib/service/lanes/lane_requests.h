// Reads lanes and sends them requests from outside their loops. Private to this folder. Threads: any;
// requests block until the loops have answered, or for `patience`.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "lane/member/consumer_loop.h"
#include "service/control.h"
#include "service/lane_view.h"

namespace laneway::service {

using Loops = std::vector<std::shared_ptr<lane::ConsumerLoop>>;

/// Sorted by topic and partition.
std::vector<LaneView> views_of(const Loops& loops);

/// By epoch, for the lanes whose loops have answered.
std::map<std::uint64_t, lane::LaneDetail> details_of(const Loops& loops, Duration patience);

/// Suspended partitions are noted in `suspensions` (lane/shared/suspensions.h), and their lanes follow. The
/// answer to a suspension that travels comes when the brokers have stored it.
ControlAnswer control(const Loops& loops, lane::Suspensions& suspensions, const ControlRequest& request,
                      Duration patience);

}  // namespace laneway::service
