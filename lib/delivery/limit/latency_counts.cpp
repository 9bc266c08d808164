#include "delivery/limit/latency_counts.h"

#include <algorithm>
#include <cmath>

namespace laneway::delivery {
namespace {

constexpr double least = 1e-6;

}  // namespace

void LatencyCounts::add(double latency, std::uint32_t calls) {
  const double octave = std::log2(std::max(latency, least) / least);
  const auto index = std::min(static_cast<std::size_t>(octave * in_octave), classes_.size() - 1);
  auto& same = classes_[index];
  first_ = std::min(first_, index);
  same.calls += calls;
  same.seconds += latency * calls;
  calls_ += calls;
}

/// The slower calls count as if they were as slow as the slowest of the quicker ones for the variation, as is
/// right for an average without them.
LatencyCounts::Quicker LatencyCounts::quicker(double counted) const {
  if (calls_ == 0) return {};
  const double wanted = counted * static_cast<double>(calls_);
  double left = wanted;
  double sum = 0;
  double squares = 0;
  double slowest = 0;
  for (auto index = first_; index < classes_.size(); ++index) {
    const auto& same = classes_[index];
    if (same.calls == 0) continue;
    slowest = same.seconds / static_cast<double>(same.calls);
    const double calls = std::min(left, static_cast<double>(same.calls));
    sum += calls * slowest;
    squares += calls * slowest * slowest;
    left -= calls;
    if (left <= 0) break;
  }
  const double all = static_cast<double>(calls_);
  const double mean = (sum + (all - wanted) * slowest) / all;
  const double variance = (squares + (all - wanted) * slowest * slowest) / all - mean * mean;
  const double average = sum / wanted;
  return {average, average > 0 ? std::sqrt(std::max(0.0, variance)) / (counted * average) : 0};
}

}  // namespace laneway::delivery
