// The next limit by the latency now and the latency without a queue: the formulas of Vegas and of Gradient.
// Both follow Netflix's concurrency-limits (github.com/Netflix/concurrency-limits, VegasLimit.java and
// Gradient2Limit.java). Latencies are in seconds. Pure.
//
// Vegas (Brakmo and Peterson, 1994) estimates how many calls wait in the downstream's queue: limit × (1 −
// base / latency). It raises the limit while few wait, and lowers it when many do. Different from the
// published one, with L the limit and k = ⌊log₁₀ L⌋, at least 1:
// - The bounds of the queue, k, 3k and 6k, are also shares of L: 0.04 to 0.08, 0.08 to 0.1, and 0.12 to 0.15.
//   Fixed numbers are too small for large limits, where an error of the latency of 3 % is six calls, and too
//   large for small ones, where six waiting calls multiply the latency.
// - It is raised by a quarter and not by 6k, and lowered at once to the limit at which the wanted queue is
//   left, at most to half, and not by k: from 100 to 20 by ones takes a minute.
//
// Gradient is the published Gradient2: L × g + headroom, where g = tolerance × base / latency, between 0.5
// and 1, and a lower limit is approached gradually. Different from the published one:
// - `base` is the measured latency without a queue (latency_limit.h), as in the first Gradient and in Envoy's
//   gradient controller, and not a long-term average of all latencies: that average follows a queue that
//   lasts, and the limit rises to its maximum.
// - The tolerance is 1.05 and not 1.5, because base is no average: 1.5 alone is a latency of 1.5 × base.
// - The headroom of four calls is at most a twelfth of L; while g is 1, it is a fifth of L, without
// smoothing,
//   so that a capacity that has grown is found in seconds. Otherwise the limit goes half of the way at a
//   time, and not a fifth, because there are fewer windows than the published algorithm has samples.
#pragma once

#include <cstdint>

namespace laneway::delivery {

std::uint32_t vegas(std::uint32_t limit, double base, double latency);
std::uint32_t gradient(std::uint32_t limit, double base, double latency);

}  // namespace laneway::delivery
