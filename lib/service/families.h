// All metric families of a service. Private to this folder. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "kafka/produce/renewals.h"
#include "lane/shared/silences.h"
#include "service/status_observer.h"
#include "telemetry/metrics.h"
#include "tracing/tracer.h"

namespace laneway::service {

/// `renewals`: of all producers. `spans`: null if there are none. `brokers`: their number.
std::vector<telemetry::Family> families_of(const RunningParts& parts, const lane::Silences& silences,
                                           const std::vector<const kafka::Renewals*>& renewals,
                                           const tracing::Tracer* spans, std::uint64_t brokers);

}  // namespace laneway::service
