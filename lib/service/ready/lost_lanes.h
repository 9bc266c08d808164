// What was last known of the lanes of partitions that were lost, for the metrics.
//
// While no broker answers, the client gives up its partitions, and their lanes end. Their lag must not vanish
// from the metrics then, because an alert on the lag would end with it. So the last values stay until the
// member has an assignment again. A partition that the group took away in order belongs to another member,
// and nothing of it stays.
//
// Pure: views are given in, about once per second. Not thread-safe. Memory is bounded by the lanes of the
// members' last assignments.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "service/lane_view.h"

namespace laneway::service {

class LostLanes {
 public:
  /// `assigned`: whether each member has an assignment that it has not lost; lanes name their member.
  void observe(const std::vector<LaneView>& lanes, const std::vector<bool>& assigned);

  /// The last views of partitions without a lane among `lanes`, whose members have no assignment.
  std::vector<LaneView> of(const std::vector<LaneView>& lanes, const std::vector<bool>& assigned) const;

 private:
  using Partition = std::pair<std::string, std::int32_t>;
  std::map<Partition, LaneView> known_;
};

}  // namespace laneway::service
