// What the service says of the downstream, for /readyz, the status and the page: the state of the breaker,
// and how the calls went lately, in words. The breaker's rules are in delivery/failure/breaker.h, what owns
// the breaker is lane/shared/downstream.h.
//
// Threads: any. Pure, except status_of(), which asks the downstream and blocks on its mutex alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "delivery/failure/breaker.h"
#include "delivery/failure/call_tally.h"
#include "lane/shared/downstream.h"
#include "lane/shared/rate_limiter.h"

namespace laneway::service {

struct DownstreamStatus {
  std::string name;
  delivery::Breaker::State state{};
  bool has_breaker = true;        ///< else calls are counted, and nothing opens
  std::string last_failure;       ///< in its own words; empty: no call has failed
  bool has_worked = false;        ///< a call has succeeded since the process started
  std::optional<Duration> out{};  ///< how long it has been out; nothing while the breaker is closed
  bool keeps_rejected = false;    ///< so many records are rejected that none of those is given up
  delivery::CallReport calls{};   ///< of the last minute, or of an outage that is shorter
  double pace = 0;                ///< records a second since it has asked for fewer calls; 0: it has not
};
DownstreamStatus status_of(lane::Downstream& downstream, lane::RateLimiter& rate, bool has_breaker);

/// The state as the status has it: "closed", "half open", "open"; "off" where there is no breaker.
const char* breaker_state(const DownstreamStatus& downstream);

/// "fails for 97 % of calls: HTTP 500 (312), time-out (4), of 325 calls in the last minute", "has asked for
/// fewer calls: …", "rejects so many records that …", or several of these; empty: no call failed.
std::string calls_in_words(const DownstreamStatus& downstream);
/// Why the service is not ready; with `out`. `now_ms`: since 1970.
std::string outage_in_words(const DownstreamStatus& downstream, std::int64_t now_ms);
/// When the outage began, in ms since 1970.
std::optional<std::int64_t> out_since_ms(const DownstreamStatus& downstream, std::int64_t now_ms);

}  // namespace laneway::service
