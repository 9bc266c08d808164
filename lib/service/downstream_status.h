// What the service reports about the downstream, for /readyz, the status and the page: the state of the
// breaker, and the results of the recent calls, in words. The breaker's rules are in
// delivery/failure/breaker.h; lane/shared/downstream.h owns the breaker.
//
// Threads: any. Pure, except status_of(), which asks the downstream and blocks on its mutex only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "delivery/failure/breaker.h"
#include "delivery/failure/call_tally.h"
#include "lane/shared/adaptive_limit.h"
#include "lane/shared/downstream.h"
#include "lane/shared/rate_limiter.h"

namespace laneway::service {

struct DownstreamStatus {
  std::string name;
  std::string pool{};              ///< the named pool whose downstream it is; empty if there are no pools
  delivery::BreakerState state{};  ///< off: calls are counted, and no breaker opens
  std::string last_failure;        ///< as the downstream or the client worded it; empty if no call has failed
  bool has_worked = false;         ///< a call has succeeded since the process started
  /// How long the downstream has been out; nullopt while the breaker is closed.
  std::optional<Duration> out{};
  bool keeps_rejected = false;   ///< there are so many rejections that no rejected record is dead-lettered
  delivery::CallReport calls{};  ///< of the last minute, or of the outage if that is shorter
  /// Records per second, if the downstream has asked for fewer calls; otherwise 0.
  double pace = 0;
  std::optional<lane::AdaptiveLimit::Report> limit{};  ///< nullopt if the number of workers is fixed
};

/// The downstream of a service, or of one of its pools.
struct WatchedDownstream {
  lane::Downstream* downstream = nullptr;
  lane::RateLimiter* rate = nullptr;  ///< keeps its pace
  bool has_breaker = true;
  std::string pool{};                       ///< as in DownstreamStatus
  lane::AdaptiveLimit* adaptive = nullptr;  ///< null if the number of workers is fixed
};
DownstreamStatus status_of(const WatchedDownstream& watched);
/// For a process whose lanes have no records, or without a lane: nothing is held, and no record is left to
/// probe with, so the breaker would report the outage until a record comes. Makes it a closed breaker.
void leave_out_outage(DownstreamStatus& downstream);

/// "fails for 97 % of calls: HTTP 500 (312), time-out (4), of 325 calls in the last minute", "has asked for
/// fewer calls: …", "rejects so many records that …", or several of these; empty if no call failed.
std::string calls_in_words(const DownstreamStatus& downstream);
/// "24 calls at once, between 2 and 64; lowered from 38 to 24 at 14:02:11Z: latency rose from 12 ms to 40
/// ms". Needs `limit`.
std::string limit_in_words(const DownstreamStatus& downstream, TimePoint now, std::int64_t now_ms);
/// Why the service is not ready; needs `out`. `now_ms`: since 1970.
std::string outage_in_words(const DownstreamStatus& downstream, std::int64_t now_ms);
/// When the outage began, in ms since 1970.
std::optional<std::int64_t> out_since_ms(const DownstreamStatus& downstream, std::int64_t now_ms);

}  // namespace laneway::service
