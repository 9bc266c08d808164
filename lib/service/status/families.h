// All metric families of a service. Private to lib/service. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "handler/handler.h"
#include "lane/position/silences.h"
#include "lane/shared/journal.h"
#include "service/status/status_observer.h"
#include "telemetry/metrics.h"
#include "tracing/tracer.h"

namespace laneway::service {

/// Parts of a service that count for themselves.
struct Counting {
  const lane::Silences& silences;
  std::vector<handler::Handler*> handlers{};  ///< null ones are left out
  const tracing::Tracer* spans = nullptr;     ///< null if there is none
  std::uint64_t brokers = 1;                  ///< their number
  const lane::Journal* journal = nullptr;     ///< null if there is none
};

std::vector<telemetry::Family> families_of(const RunningParts& parts, const StatusObserver& observer,
                                           const Counting& counting);

/// Pools may share a downstream: the worst state, and the sums of their calls and paces. While no record
/// waits an open breaker holds nothing, and its state is closed (leave_out_outage()).
std::vector<telemetry::Family> downstream_families(const std::vector<WatchedDownstream>& watched,
                                                   const std::vector<LaneView>& lanes, TimePoint now);
/// How often each reason applies; a reason that does not apply is 0, so each has a series.
telemetry::Family reason_family(const Readiness& readiness);
/// The assignments and the connections of the members; no connections before there are members.
std::vector<telemetry::Family> member_families(const std::vector<MemberFacts>& members);

}  // namespace laneway::service
