#include "lane/intake/prefetch_watch.h"

namespace laneway::lane {
namespace {

constexpr Duration dry_limit = milliseconds(20);

}  // namespace

void PrefetchWatch::after_run(PartitionSource& source, std::size_t fetched_before) {
  if (!was_full_ || fetched_before >= limits_.queued_min_messages / 2) return;
  was_full_ = false;
  source.wake();
}

void PrefetchWatch::tick(PartitionSource& source, bool may_take, std::int64_t next_offset, TimePoint now) {
  if (!dry_since_ || !may_take) return;
  const auto log_end = source.log_bounds().end;
  if (log_end < 0 || next_offset < 0 || next_offset >= log_end) return flows();
  if (!was_full_ || now - *dry_since_ < dry_limit) return;
  was_full_ = false;
  source.wake();
}

TimePoint PrefetchWatch::next_look(TimePoint now) const {
  return is_dry() && was_full_ ? now + dry_limit : TimePoint::max();
}

}  // namespace laneway::lane
