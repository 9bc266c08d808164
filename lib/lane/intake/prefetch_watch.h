// Wakes the client's fetching: a thread of the client can sleep on a buffer that was full, although the
// buffer runs low, or is empty while the log goes on.
//
// Ownership: the lane's; the limits outlive this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "kafka/types.h"
#include "lane/source/partition_source.h"

namespace laneway::lane {

class PrefetchWatch {
 public:
  explicit PrefetchWatch(const kafka::FetchLimits& limits) : limits_(limits) {}

  /// A run has been taken; before it, so many records were fetched.
  void after_run(PartitionSource& source, std::size_t fetched_before) {
    was_full_ = was_full_ || fetched_before >= limits_.queued_min_messages;
    if (was_full_ && fetched_before < limits_.queued_min_messages / 2) wake(source);
  }
  /// Nothing is fetched; `some_came`: there was something before.
  void ran_dry(bool some_came, TimePoint now) {
    if (!dry_since_ || some_came) dry_since_ = now;
  }
  /// Records arrive, or the reason why none arrives is known.
  void flows() { dry_since_.reset(); }

  /// `next_offset`: where fetching goes on; negative if not known.
  void tick(PartitionSource& source, bool may_take, std::int64_t next_offset, TimePoint now) {
    if (!dry_since_ || !may_take) return;
    const auto log_end = source.log_bounds().end;
    if (log_end < 0 || next_offset < 0 || next_offset >= log_end) return flows();
    if (was_full_ && now - *dry_since_ >= dry_limit) wake(source);
  }
  /// Whether nothing arrives although the log is not known to end.
  bool is_dry() const { return dry_since_.has_value(); }
  /// When to look again.
  TimePoint next_look(TimePoint now) const {
    return is_dry() && was_full_ ? now + dry_limit : TimePoint::max();
  }

 private:
  static constexpr Duration dry_limit = milliseconds(20);

  void wake(PartitionSource& source) {
    was_full_ = false;
    source.wake();
  }

  const kafka::FetchLimits& limits_;
  bool was_full_ = false;               // since the last wake
  std::optional<TimePoint> dry_since_;  // since when nothing arrives although the log goes on
};

}  // namespace laneway::lane
