#include "app/demo/plan.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace laneway::demo {
namespace {

constexpr std::array<std::uint64_t, partitions> percent{26, 20, 15, 12, 10, 8, 6, 3};
constexpr double bursts = 3;
constexpr double in_bursts = 0.85;    // of a partition's records; the others arrive evenly
constexpr double burst_length = 0.3;  // of the time from burst to burst
constexpr double headroom = 1.3;      // of the busiest lane's average
constexpr double mean_of_median =
    1.118;  // of the log-normal distribution whose 99th percentile is three medians

/// The part of a partition's records that has arrived after the part `x` of the time, both from 0 to 1.
double come(double x, std::size_t partition) {
  const double cycle = std::floor(x * bursts);
  const double begin = (1 - burst_length) * static_cast<double>(partition) / (partitions - 1);
  const double burst = std::clamp((x * bursts - cycle - begin) / burst_length, 0.0, 1.0);
  return (1 - in_bursts) * x + in_bursts * (cycle + burst) / bursts;
}

}  // namespace

Plan::Plan(std::uint64_t records, Duration length) : records_(records), length_(length) {}

std::vector<std::uint64_t> Plan::due(Duration elapsed) const {
  const double x = std::clamp(to_seconds(elapsed) / to_seconds(produce_for()), 0.0, 1.0);
  std::vector<std::uint64_t> due;
  std::uint64_t others = 0;
  for (std::size_t p = partitions; p-- > 0;) {
    const std::uint64_t all = p == 0 ? records_ - others : records_ * percent[p] / 100;
    others += all;
    due.insert(due.begin(), x >= 1 ? all : static_cast<std::uint64_t>(static_cast<double>(all) * come(x, p)));
  }
  return due;
}

milliseconds Plan::work() const {
  const double rate = static_cast<double>(records_ * percent[0]) / 100 / to_seconds(produce_for());
  const double median_ms = 1000 * workers / (headroom * rate) / mean_of_median;
  return milliseconds(std::clamp<std::int64_t>(std::llround(std::min(median_ms, 1e6)), 1, 200));
}

}  // namespace laneway::demo
