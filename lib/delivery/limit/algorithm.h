// How an adaptive limit of concurrency finds its value: the interface of the algorithms, and what an answer
// of one is. concurrency_limit.h uses it. Pure.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "delivery/limit/limit_window.h"

namespace laneway::delivery {

/// Why a limit changes.
enum class LimitReason : std::uint8_t {
  none,
  success,      ///< calls succeed and the limit is used
  latency,      ///< latency rose
  throttled,    ///< the downstream answered "too often"
  timeout,      ///< calls had no answer in time
  unavailable,  ///< calls were refused, or answered "not now"
  breaker,      ///< the breaker opened
  probe,        ///< lowered for a moment, to measure the latency without a queue, or raised again
  settings,     ///< min or max were changed
  persistent,   ///< raised again: fewer calls did not lower the share of dropped calls
};
/// The values of the metric's label, in the order of LimitReason.
inline constexpr std::array limit_reasons{"none",        "success", "latency", "throttled", "timeout",
                                          "unavailable", "breaker", "probe",   "settings",  "persistent"};

struct LimitBounds {
  std::uint32_t min = 1;
  std::uint32_t max = 1;
};

/// An answer of an algorithm. The limit is clamped to the bounds by the caller.
struct NextLimit {
  std::uint32_t limit = 0;
  LimitReason reason = LimitReason::none;
  double latency_before = 0;  ///< in seconds; with LimitReason::latency
};

/// How far a limit rises in each window after calls were dropped: by one in the first ten windows, and then
/// by one more with each window (as CUBIC's does, RFC 9438), so that a capacity that has grown tenfold is
/// found in seconds and not in minutes.
class CarefulSteps {
 public:
  std::uint32_t next() { return ++calm_ > 10 ? calm_ - 10 : 1; }

 private:
  std::uint32_t calm_ = 0;
};

class LimitAlgorithm {
 public:
  virtual ~LimitAlgorithm() = default;
  /// A window without too many dropped calls has ended. `limit`: the present one.
  virtual NextLimit next(const LimitWindow::Sum& window, std::uint32_t limit, const LimitBounds& bounds,
                         TimePoint now) = 0;
  /// The limit was lowered because of dropped calls or the breaker.
  virtual void lowered() = 0;
  /// Latency without a queue, in seconds; 0 if the algorithm does not measure it.
  virtual double base() const { return 0; }
};

/// Whether so many calls run that the limit matters; otherwise nothing is learned about it.
inline bool uses(const LimitWindow::Sum& window, std::uint32_t limit) {
  return std::uint64_t{window.in_flight} * 2 >= limit;
}

/// Half of a limit, apart from the places that slow calls hold: those remain held when the limit falls.
inline std::uint32_t halved(std::uint32_t limit, const LimitWindow::Sum& window) {
  return limit - static_cast<std::uint32_t>(std::ceil(limit * (1 - window.slow) / 2));
}

}  // namespace laneway::delivery
