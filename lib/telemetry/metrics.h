// Metrics as Prometheus reads them, gathered from snapshots at the moment of a scrape.
//
// Modules keep plain numbers; a Provider turns a snapshot of them into families. So the way of a record pays
// nothing for being measured, and a partition that has left simply is no longer in the snapshot.
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

struct Sample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;  ///< counters and gauges
  /// Histograms: upper bound in the metric's unit and the count of all at or below it, rising; the bound
  /// infinity is added where it is missing.
  std::vector<std::pair<double, std::uint64_t>> buckets;
  double sum = 0;
  std::uint64_t count = 0;
};

/// A histogram of durations, in seconds.
Sample histogram_sample(std::vector<std::pair<std::string, std::string>> labels,
                        const Histogram::Snapshot& snapshot);

struct Family {
  Family() = default;
  /// Family(metric("lane_lag_records")): a misspelt name does not compile.
  explicit Family(const MetricInfo& metric, std::vector<Sample> with = {})
      : name(metric.name),
        help(metric.help),
        type(metric.type),
        across(metric.across),
        samples(std::move(with)) {}

  std::string name;  ///< without the prefix laneway_
  std::string help;
  MetricType type = MetricType::gauge;
  Across across = Across::no_partitions;
  std::vector<Sample> samples;
};

using Provider = std::function<std::vector<Family>()>;

inline constexpr std::size_t series_per_family = 10000;

/// The text of /metrics (Prometheus text format 0.0.4). Families of one name from several providers are one.
/// Of a family the first `most_series` samples are printed; metrics_omitted_series says how many were not.
/// `pool_aliases`: pool_jobs_total, pool_inflight, pool_queue_depth and pool_duration_seconds are there a
/// second time without the prefix, as dashboards for pools of any kind have them.
std::string render_metrics(const std::vector<Provider>& providers,
                           std::size_t most_series = series_per_family, bool pool_aliases = false);

}  // namespace laneway::telemetry
