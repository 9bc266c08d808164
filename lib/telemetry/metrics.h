// Metrics for Prometheus, gathered from snapshots at each scrape.
//
// Modules keep plain numbers; a Provider turns a snapshot of them into families. So a record's path costs
// nothing for being measured, and a partition that has left is simply missing in the next snapshot.
// render_metrics calls the providers on the calling thread (the admin server's) and blocks only as they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "telemetry/metric_table.h"

namespace laneway::telemetry {

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sample {
  Labels labels;
  double value = 0;  ///< counters and gauges
  /// Histograms: upper bound in the metric's unit and the count of all values at or below it, rising; the
  /// bound infinity is added if it is missing.
  std::vector<std::pair<double, std::uint64_t>> buckets;
  double sum = 0;
  std::uint64_t count = 0;
};

/// A histogram of durations, in seconds.
Sample histogram_sample(Labels labels, const Histogram::Snapshot& snapshot);

/// Its name is without the prefix laneway_.
struct Family : MetricInfo {
  /// Family(metric("lane_lag_records")): a misspelt name does not compile.
  explicit Family(const MetricInfo& metric, std::vector<Sample> with = {})
      : MetricInfo(metric), samples(std::move(with)) {}
  /// A metric without labels.
  Family(const MetricInfo& metric, double value) : Family(metric) { add({}, value); }

  /// Adds a sample of a counter or gauge.
  template <class Number>
  void add(Labels of, Number value) {
    samples.push_back({std::move(of), static_cast<double>(value), {}, 0, 0});
  }

  std::vector<Sample> samples;
};

using Provider = std::function<std::vector<Family>()>;

inline constexpr std::size_t series_per_family = 10000;

/// The text of /metrics (Prometheus text format 0.0.4). Families with the same name from several providers
/// are merged. The first `most_series` samples of a family are printed; metrics_omitted_series reports how
/// many were omitted. `pool_aliases`: pool_jobs_total, pool_inflight, pool_queue_depth and
/// pool_duration_seconds are printed a second time without the prefix, as dashboards for pools of any kind
/// expect them.
std::string render_metrics(const std::vector<Provider>& providers,
                           std::size_t most_series = series_per_family, bool pool_aliases = false);

}  // namespace laneway::telemetry
