// Turns successive snapshots of the members' lanes into the rows of a table and the events between them.
// Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/demo/plan.h"
#include "service/service.h"

namespace laneway::demo {

/// The state of one partition.
struct Row {
  std::size_t member = 0;              ///< from 1; 0: no member has the partition
  std::optional<lane::State> state{};  ///< nullopt if no member has the partition
  std::uint64_t produced = 0;
  std::uint64_t done = 0;  ///< finished records, by the journals
  std::uint32_t queued = 0;
  std::uint32_t in_flight = 0;
  std::int64_t delivered = -1;  ///< the last offset that the present lane has taken
  std::int64_t committed = -1;  ///< the last committed offset that was seen
  std::uint64_t holds = 0;      ///< of all lanes of the partition so far
  std::uint64_t pauses = 0;

  std::uint64_t lag() const { return produced - std::min(done, produced); }
  /// True if no record of the partition waits in the topic.
  bool all_taken() const { return std::max(delivered + 1, committed) >= static_cast<std::int64_t>(produced); }
};
using Rows = std::array<Row, partitions>;

class Observer {
 public:
  /// `members`: the lanes of each member. Updates the rows, except produced and done. Returns the events
  /// since the last call, one sentence each.
  std::vector<std::string> update(const std::vector<std::vector<service::LaneView>>& members);

  Rows& rows() { return rows_; }
  const Rows& rows() const { return rows_; }
  std::size_t lanes_of(std::size_t member) const;

 private:
  /// The state of the present lane of a partition.
  struct Present {
    std::uint64_t epoch = 0;
    std::uint64_t holds = 0;
    std::uint64_t pauses = 0;
    bool hold_told = false;
  };
  void take(std::size_t partition, std::size_t member, const service::LaneView& view);
  void tell_change(std::size_t partition, std::optional<lane::State> before,
                   std::vector<std::string>& events);
  void tell_members(const Rows& before, std::size_t members, std::vector<std::string>& events) const;

  Rows rows_;
  std::array<Present, partitions> present_;
};

}  // namespace laneway::demo
