#include "lane/commit/lane_start.h"

#include <string>
#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

void warn_ignored(const StoredCommit& start, const std::string& why) {
  telemetry::warn("completion map ignored", {{"topic", start.partition.topic},
                                             {"partition", start.partition.partition},
                                             {"offset", start.offset},
                                             {"error", why},
                                             {"hint", "records that are finished may run again"}});
}

}  // namespace

StoredCommit own_start(const LaneContext& context, StoredCommit start) {
  const LogName own{start.topic_id, context.cluster};
  const auto why = foreign(start.log, own);
  if (!why) return start;
  const bool differs = start.log.topic.empty() ? !own.cluster.empty() : !own.topic.empty();
  if (differs || start.has_map()) warn_ignored(start, *why);
  if (differs) return {.partition = start.partition, .offset = start.offset, .topic_id = start.topic_id};
  start.map.runs.clear();
  start.map_error.clear();
  return start;
}

Ledger ledger_of(const StoredCommit& start) {
  if (start.offset == kafka::no_offset) return Ledger();
  if (!start.map_error.empty()) warn_ignored(start, start.map_error);
  return Ledger(start.map);
}

}  // namespace laneway::lane
