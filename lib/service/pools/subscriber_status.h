// The subscribers of a pool in the status (config::Each): how many there are, and those in trouble, which are
// the ones that are out, then the ones that are at their limits and have the most records waiting.
//
// Threads: any; blocks on short mutexes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "delivery/failure/breaker.h"
#include "lane/shared/keyed_limits.h"

namespace laneway::service {

struct SubscriberStatus {
  std::string name;  ///< the text of its records, cut to max_name bytes
  delivery::BreakerState state{};
  std::uint32_t running = 0;
  std::uint32_t most = 0;     ///< that may run at once; 0: no limit
  std::uint64_t waiting = 0;  ///< records that wait in the lanes for their first or next attempt
  std::string text;  ///< what is wrong: "out since 14:02:11Z; fails for 100 % of calls: HTTP 503 (9)"

  static constexpr std::size_t max_name = 80;
};

struct Subscribers {
  static constexpr std::size_t max_worst = 10;

  std::size_t known = 0;
  std::size_t out = 0;                    ///< with a breaker that is not closed
  std::size_t at_limit = 0;               ///< that are not out, and whose records wait for their own limits
  std::vector<SubscriberStatus> worst{};  ///< of these, at most max_worst
};

/// `now_ms`: since 1970.
Subscribers subscribers_of(const lane::KeyedLimits& limits, std::int64_t now_ms);

}  // namespace laneway::service
