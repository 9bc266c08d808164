// The subscribers of a pool in the status (config::Each): how many there are, and those in trouble, which are
// the ones that are out, then the ones that are at their limits or have parked records, with the most records
// that wait.
//
// Threads: any; blocks on short mutexes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "delivery/failure/breaker.h"
#include "lane/shared/keyed_limits.h"
#include "lane/shared/parked_records.h"

namespace laneway::service {

/// Records that wait in retry topics (lane/shared/parked_records.h).
struct ParkedStatus {
  std::uint64_t records = 0;
  Duration oldest{};  ///< how long the oldest of them has waited
};
ParkedStatus status_of(const lane::ParkedRecords::Count& count, TimePoint now);
/// "12 records are parked, and the oldest has waited since 14:02:11Z"; empty without such records. `now_ms`:
/// since 1970.
std::string in_words(const ParkedStatus& parked, std::int64_t now_ms);

struct SubscriberStatus {
  std::string name;  ///< the text of its records, cut to max_name bytes
  delivery::BreakerState state{};
  std::uint32_t running = 0;
  std::uint32_t most = 0;     ///< that may run at once; 0: no limit
  std::uint64_t waiting = 0;  ///< records that wait in the lanes for their first or next attempt
  ParkedStatus parked{};
  std::string text;  ///< what is wrong: "out since 14:02:11Z; fails for 100 % of calls: HTTP 503 (9)"

  static constexpr std::size_t max_name = 80;
};

struct Subscribers {
  static constexpr std::size_t max_worst = 10;

  std::size_t known = 0;
  std::size_t out = 0;                    ///< with a breaker that is not closed
  std::size_t at_limit = 0;               ///< that are not out, and whose records wait for their own limits
  std::size_t with_parked = 0;            ///< that are neither, and have parked records
  std::vector<SubscriberStatus> worst{};  ///< of these, at most max_worst
};

/// `now_ms`: since 1970. `parked`: of the pool.
Subscribers subscribers_of(const lane::KeyedLimits& limits, std::int64_t now_ms,
                           const lane::ParkedRecords::OfPool& parked = {}, TimePoint now = {});

}  // namespace laneway::service
