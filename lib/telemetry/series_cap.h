// Bounds a page of metrics if a process has very many partitions.
//
// The first `most` partitions (by topic and number) have series of their own. The other partitions of a topic
// share one series, with partition="other", aggregated as the metric's row defines (Across in
// metric_table.h). The other partitions of all topics after the first `most` topics (by name) share one
// series with topic="other" too. A page has at most 2 * most + 1 samples of a family for each value of its
// further labels, however many partitions and topics come and go.
//
// Counters and histograms never fall when a partition leaves the shared series or joins it: the growth since
// the last page is added up, so rate() and increase() are right as far as that page showed. A topic's series
// with partition="other" ends when no partition of the topic is left, or topics before it take its place; if
// it returns, it begins at 0. The series with topic="other" stays.
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
inline constexpr const char* the_others = "other";  // replaces the names of partitions and topics

class SeriesCap {
 public:
  explicit SeriesCap(std::size_t most = partitions_with_series) : most_(most) {}

  /// Samples of partitions have the labels topic and partition first.
  void apply(std::vector<Family>& families) EXCLUDES(mutex_);

 private:
  using Key = std::vector<std::string>;  // the family's name and the labels' values
  using Counted = std::map<Key, Sample>;
  struct Page;

  void fold(Family& family, Page& page) REQUIRES(mutex_);
  void count(const Family& family, const Sample& sample, bool other, Page& page) REQUIRES(mutex_);

  const std::size_t most_;
  Mutex mutex_;
  bool exceeded_ GUARDED_BY(mutex_) = false;  // now or earlier
  Counted last_ GUARDED_BY(mutex_);           // of each partition, on the last page
  Counted totals_ GUARDED_BY(mutex_);         // of the shared series
};

}  // namespace laneway::telemetry
