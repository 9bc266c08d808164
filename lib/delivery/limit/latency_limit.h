// A limit that follows the latency: measures the latency without a queue, and asks Vegas or Gradient
// (latency_rules.h) for the next limit.
//
// The base, the latency without a queue, comes from these:
// - A window whose latency is less than the base, by more than chance explains, lowers the base.
// - If a lower limit does not lower the latency, there was no queue: the downstream has become slower, and
//   the base becomes its latency.
// - Every 30 s (at least every 60 calls' time) without a window at the base, a probe halves the limit, apart
//   from the places that slow calls hold, for one window, and again while that lowers the latency; then the
//   limit returns to where the queue is short. The published Vegas takes the latency of any moment as its new
//   base, with the queue of that moment, so that base and limit drift upwards; the first Gradient drops to
//   four calls.
// - At the lowest limit the latency is the base: the limit cannot make the queue shorter.
// A latency counts as raised only as far as chance does not explain it (LimitWindow::Sum::noise, and the same
// of the base, by the calls that it was measured with and by how much calls vary by now): published
// windows take the average as it is, and a base that is the least of many averages is too low, so that
// varying calls keep the limit down.
//
// Pure: the time is given in. One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "delivery/limit/algorithm.h"

namespace laneway::delivery {

class LatencyLimit final : public LimitAlgorithm {
 public:
  using Rule = std::uint32_t (*)(std::uint32_t limit, double base, double latency);

  explicit LatencyLimit(Rule rule) : rule_(rule) {}
  NextLimit next(const LimitWindow::Sum& window, std::uint32_t limit, const LimitBounds& bounds,
                 TimePoint now) override;
  void lowered() override;
  double base() const override { return base_; }

 private:
  struct Point {
    std::uint32_t limit = 0;
    double latency = 0;
    double noise = 0;
  };

  static bool about_same(const Point& one, const Point& other);
  void learn(const LimitWindow::Sum& window, std::uint32_t limit, const LimitBounds& bounds, TimePoint now);
  NextLimit probe(const LimitWindow::Sum& window, std::uint32_t limit, const LimitBounds& bounds,
                  TimePoint now);
  void confirm(const LimitWindow::Sum& window, TimePoint now);
  double base_noise() const;

  const Rule rule_;
  double base_ = 0;                    // 0: not measured
  double base_calls_ = 0;              // by which it was measured
  double variation_ = 0;               // of the calls of late
  Point last_;                         // of the last window; limit 0: there was none
  TimePoint confirmed_{};              // when the base was last measured
  Point before_lowering_;              // where the limit began to fall; limit 0: it does not fall
  Point before_probe_;                 // limit 0: there is no probe
  Point before_step_;                  // before the last step of the probe
  std::optional<CarefulSteps> steps_;  // since calls were dropped
};

}  // namespace laneway::delivery
