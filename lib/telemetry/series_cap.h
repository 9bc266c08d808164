// Keeps a page of metrics in bounds where a process has very many partitions.
//
// The first `most` partitions (by topic and number) have series of their own; of the others of a topic there
// is one series with partition="other": sums; for an age the highest; no offsets. What counts (counters,
// histograms) never falls when a partition leaves the others or joins them: what was added since the last
// page is added up, so rate() and increase() are right as far as that page saw. All others of a page are as
// many series as one partition has, so its length is bounded.
//
// Threads: any; pages are made one after the other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "telemetry/metrics.h"

namespace laneway::telemetry {

inline constexpr std::size_t partitions_with_series = 256;
inline constexpr const char* other_partitions = "other";

class SeriesCap {
 public:
  explicit SeriesCap(std::size_t most = partitions_with_series) : most_(most) {}

  /// Samples of partitions have the labels topic and partition in front.
  void apply(std::vector<Family>& families) EXCLUDES(mutex_);

 private:
  using Key = std::vector<std::string>;  // the family's name and the labels' values
  using Counted = std::map<Key, Sample>;
  struct Page;

  void fold(Family& family, Page& page) REQUIRES(mutex_);
  void count(const Family& family, const Sample& sample, bool other, Page& page) REQUIRES(mutex_);

  const std::size_t most_;
  Mutex mutex_;
  bool exceeded_ GUARDED_BY(mutex_) = false;  // now or once
  Counted last_ GUARDED_BY(mutex_);           // of each partition, on the last page
  Counted totals_ GUARDED_BY(mutex_);         // of the others
};

}  // namespace laneway::telemetry
