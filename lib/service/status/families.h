// All metric families of a service. Private to this folder. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "handler/handler.h"
#include "kafka/produce/renewals.h"
#include "lane/position/silences.h"
#include "lane/shared/journal.h"
#include "service/status/status_observer.h"
#include "telemetry/metrics.h"
#include "tracing/tracer.h"

namespace laneway::service {

/// Those of the handlers that write to Kafka, each once. Handlers may be null.
std::vector<const kafka::Renewals*> renewals_of(const std::vector<handler::Handler*>& handlers);

/// `renewals`: of all producers. `spans`, `journal`: null if there are none. `brokers`: their number.
std::vector<telemetry::Family> families_of(const RunningParts& parts, const lane::Silences& silences,
                                           const std::vector<const kafka::Renewals*>& renewals,
                                           const tracing::Tracer* spans, std::uint64_t brokers,
                                           const lane::Journal* journal);

}  // namespace laneway::service
