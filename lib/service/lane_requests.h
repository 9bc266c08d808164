// Lanes seen and asked from outside their loops. Private to this folder. Threads: any; asking blocks until
// the loops have answered, or for `patience`.
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

/// By epoch, of the lanes whose loops have answered.
std::map<std::uint64_t, lane::LaneDetail> details_of(const Loops& loops, Duration patience);

/// Pauses are noted in `pauses` (lane/shared/hand_pauses.h) and told to the lanes that are there.
ControlAnswer control(const Loops& loops, lane::HandPauses& pauses, const ControlRequest& request,
                      Duration patience);

}  // namespace laneway::service
