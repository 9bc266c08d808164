#include "service/status/families.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "service/lanes/lane_metrics.h"
#include "service/pools/pool_metrics.h"
#include "service/process/process_threads.h"

namespace laneway::service {
namespace {

void append(std::vector<telemetry::Family>& families, std::vector<telemetry::Family> more) {
  std::move(more.begin(), more.end(), std::back_inserter(families));
}

}  // namespace

std::vector<const kafka::Renewals*> renewals_of(const std::vector<handler::Handler*>& handlers) {
  std::vector<const kafka::Renewals*> all;
  for (handler::Handler* writer : handlers) {
    const auto* found = writer == nullptr ? nullptr : writer->renewals();
    if (found != nullptr && std::find(all.begin(), all.end(), found) == all.end()) all.push_back(found);
  }
  return all;
}

std::vector<telemetry::Family> families_of(const RunningParts& parts, const lane::Silences& silences,
                                           const std::vector<const kafka::Renewals*>& renewals,
                                           const tracing::Tracer* spans, std::uint64_t brokers,
                                           const lane::Journal* journal) {
  std::vector<std::shared_ptr<const lane::Lane>> lanes;
  std::vector<const lane::LoopStats*> stats;
  for (const auto& loop : parts.loops) {
    for (auto& lane : loop->lanes()) lanes.push_back(std::move(lane));
    stats.push_back(&loop->stats());
  }
  auto families = lane_families(lanes);
  if (parts.stages != nullptr) append(families, pool_families(lanes, *parts.stages, *parts.settings));
  append(families, loop_families(stats));
  // The series of a lane would end before anybody had read what its end adds to it.
  families.emplace_back(telemetry::metric("abandoned_total"), static_cast<double>(parts.abandoned));
  families.push_back(silence_family(silences));
  if (const auto watched = parts.downstreams(); !watched.empty()) {
    append(families, downstream_families(watched, views_of(parts.loops), SteadyClock::now()));
    append(families, limit_families(watched));
  }
  if (!renewals.empty()) families.push_back(renewal_family(renewals));
  if (journal != nullptr) append(families, journal_families(*journal));
  if (spans != nullptr) families.push_back(span_family(spans->counts()));
  append(families, thread_families(expected_threads(*parts.settings, lanes.size(), brokers)));
  return families;
}

}  // namespace laneway::service
