// Why nothing can be read from a lane's source, while that is so: said at once, and again every half minute.
//
// Ownership: the lane's; the id outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "lane/state/lane_id.h"

namespace laneway::lane {

class SourceErrors {
 public:
  explicit SourceErrors(const LaneId& id) : id_(id) {}

  /// `offset`: the one that is expected next.
  void fail(std::string why, std::int64_t offset, TimePoint now);
  void clear() { why_.clear(); }

  bool any() const { return !why_.empty(); }
  /// Empty: something has come since the last error.
  const std::string& why() const { return why_; }
  /// For so long nothing could be read.
  Duration failing(TimePoint now) const { return any() ? now - since_ : Duration::zero(); }
  /// The error has lasted for another half minute. Answers true once for each.
  bool repeat_due(TimePoint now);

 private:
  const LaneId& id_;
  std::string why_;
  TimePoint since_{};
  TimePoint next_report_{};
};

}  // namespace laneway::lane
