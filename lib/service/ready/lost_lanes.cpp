#include "service/ready/lost_lanes.h"

#include <set>

namespace laneway::service {
namespace {

/// A member that does not exist any more, or not yet, has no assignment.
bool has_assignment(const LaneView& lane, const std::vector<bool>& assigned) {
  return lane.member < assigned.size() && assigned[lane.member];
}

}  // namespace

void LostLanes::observe(const std::vector<LaneView>& lanes, const std::vector<bool>& assigned) {
  std::erase_if(known_, [&](const auto& known) { return has_assignment(known.second, assigned); });
  for (const auto& lane : lanes) known_[{lane.topic, lane.partition}] = lane;
}

std::vector<LaneView> LostLanes::of(const std::vector<LaneView>& lanes,
                                    const std::vector<bool>& assigned) const {
  std::set<Partition> present;
  for (const auto& lane : lanes) present.emplace(lane.topic, lane.partition);
  std::vector<LaneView> lost;
  for (const auto& [partition, lane] : known_)
    if (!present.contains(partition) && !has_assignment(lane, assigned)) lost.push_back(lane);
  return lost;
}

}  // namespace laneway::service
