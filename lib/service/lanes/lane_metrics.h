// Lanes' and loops' numbers as metric families. Private to this folder. Threads: any.
#pragma once

#include <memory>
#include <vector>

#include "kafka/produce/renewals.h"
#include "lane/member/consumer_loop.h"
#include "lane/shared/journal.h"
#include "service/downstream_status.h"
#include "service/lane_view.h"
#include "service/process/process_threads.h"
#include "telemetry/metrics.h"
#include "tracing/span_exporter.h"

namespace laneway::service {

/// The values of the label `state`. A lost lane is one of a partition that the client lost, until its member
/// has an assignment again (ready/lost_lanes.h).
inline constexpr const char* lane_states[] = {"assigned",  "running",  "held", "paused",
                                              "suspended", "draining", "lost"};

std::vector<telemetry::Family> lane_families(const std::vector<std::shared_ptr<const lane::Lane>>& lanes);
telemetry::Family renewal_family(const std::vector<const kafka::Renewals*>& renewals);
std::vector<telemetry::Family> journal_families(const lane::Journal& journal);
telemetry::Family silence_family(const lane::Silences& silences);
telemetry::Family span_family(const tracing::SpanExporter::Counts& counts);
std::vector<telemetry::Family> thread_families(const ExpectedThreads& expected);
/// Of the downstreams whose number of workers adapts itself.
std::vector<telemetry::Family> limit_families(const std::vector<WatchedDownstream>& watched);
/// Pools may share a downstream: the worst state, and the sums of their calls and paces. While no record
/// waits an open breaker holds nothing, and its state is closed (leave_out_outage()).
std::vector<telemetry::Family> downstream_families(const std::vector<WatchedDownstream>& watched,
                                                   const std::vector<LaneView>& lanes, TimePoint now);
std::vector<telemetry::Family> loop_families(const std::vector<const lane::LoopStats*>& loops);

}  // namespace laneway::service
