// Turns snapshots of the members' lanes, one after the other, into the rows of a table and the events that
// lie between them. Pure.
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

/// A partition, with what the demo knows of it.
struct Row {
  std::size_t member = 0;              ///< from 1; 0: nobody's now
  std::optional<lane::State> state{};  ///< nothing where it is nobody's
  std::uint64_t produced = 0;
  std::uint64_t done = 0;  ///< by the journals
  std::uint32_t queued = 0;
  std::uint32_t in_flight = 0;
  std::int64_t delivered = -1;  ///< the last offset taken by its present lane
  std::int64_t committed = -1;  ///< the last one seen
  std::uint64_t holds = 0;      ///< of all its lanes so far
  std::uint64_t pauses = 0;

  std::uint64_t lag() const { return produced - std::min(done, produced); }
  /// No record of it waits in the topic.
  bool all_taken() const { return std::max(delivered + 1, committed) >= static_cast<std::int64_t>(produced); }
};
using Rows = std::array<Row, partitions>;

class Observer {
 public:
  /// `members`: the lanes of each. Brings all of the rows up to date but produced and done; returns what has
  /// happened since the last call, a sentence each.
  std::vector<std::string> update(const std::vector<std::vector<service::LaneView>>& members);

  Rows& rows() { return rows_; }
  const Rows& rows() const { return rows_; }
  std::size_t lanes_of(std::size_t member) const;

 private:
  /// What belongs to the present lane of a partition.
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
