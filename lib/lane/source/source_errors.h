// Why nothing can be read from a lane's source: logged at once, and again every half minute while the error
// lasts.
//
// Ownership: the lane's; the id outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/time.h"
#include "lane/state/lane_id.h"
#include "telemetry/log.h"

namespace laneway::lane {

class SourceErrors {
 public:
  explicit SourceErrors(const LaneId& id) : id_(id) {}

  /// `offset`: the next expected offset.
  void fail(std::string why, std::int64_t offset, TimePoint now) {
    if (why_.empty()) since_ = now;
    why_ = std::move(why);
    next_report_ = now + report_interval;
    telemetry::log_repeating(telemetry::Level::warn, "partition error " + id_.partition.topic + ": " + why_,
                             "partition error",
                             {{"topic", id_.partition.topic},
                              {"partition", id_.partition.partition},
                              {"offset", offset},
                              {"error", why_}});
  }
  void clear() { why_.clear(); }

  bool any() const { return !why_.empty(); }
  /// Empty if something has arrived since the last error.
  const std::string& why() const { return why_; }
  /// How long nothing could be read.
  Duration failing(TimePoint now) const { return any() ? now - since_ : Duration::zero(); }
  /// Returns true once for each half minute that the error has lasted.
  bool repeat_due(TimePoint now) {
    if (why_.empty() || now < next_report_) return false;
    next_report_ = now + report_interval;
    return true;
  }

 private:
  static constexpr Duration report_interval = seconds(30);

  const LaneId& id_;
  std::string why_;
  TimePoint since_{};
  TimePoint next_report_{};
};

}  // namespace laneway::lane
