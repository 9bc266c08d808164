// Additive increase, multiplicative decrease (Chiu and Jain, 1989; TCP's congestion avoidance), as in
// Netflix's concurrency-limits (github.com/Netflix/concurrency-limits, AIMDLimit.java): dropped calls lower
// the limit to 0.9 of it, and without them it rises by one while at least half of it is used. The latency
// means nothing to it: a downstream that queues instead of refusing must time out before the limit falls.
//
// Different from the published algorithm:
// - It decides by windows of calls, not by each call: +1 for each call would double the limit in one round.
// - After ten windows without too many dropped calls the steps grow (CarefulSteps).
// - Calls that are dropped at any limit do not lower it (drop_baseline.h).
// - A larger share of dropped calls lowers the limit by more, at most to half (concurrency_limit.h).
// - Calls slower than 5 s are no drops: the handler's own time-out decides.
#pragma once

#include "delivery/limit/algorithm.h"

namespace laneway::delivery {

class Aimd final : public LimitAlgorithm {
 public:
  NextLimit next(const LimitWindow::Sum& window, std::uint32_t limit, const LimitBounds&,
                 TimePoint) override {
    if (!uses(window, limit)) return {limit};
    return {limit + steps_.next(), LimitReason::success};
  }
  void lowered() override { steps_ = {}; }

 private:
  CarefulSteps steps_;
};

}  // namespace laneway::delivery
