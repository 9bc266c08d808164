#include "lane/commit/lane_start.h"

#include <string>
#include <string_view>
#include <utility>

#include "lane/commit/commit_metadata.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

void warn_ignored(const kafka::CommittedOffset& start, const std::string& why) {
  telemetry::warn("completion map ignored", {{"topic", start.partition.topic},
                                             {"partition", start.partition.partition},
                                             {"offset", start.offset},
                                             {"error", why},
                                             {"hint", "records that are finished may run again"}});
}

}  // namespace

kafka::CommittedOffset own_start(const LaneContext& context, kafka::CommittedOffset start) {
  auto metadata = read_metadata(start.metadata);
  const LogName own{start.topic_id, context.cluster};
  const auto why = foreign(metadata.log, own);
  if (!why) return start;
  const bool differs = metadata.log.topic.empty() ? !own.cluster.empty() : !own.topic.empty();
  if (differs || !metadata.map.empty()) warn_ignored(start, *why);
  metadata.map.clear();
  start.metadata = differs ? std::string() : fields_of(metadata);
  return start;
}

bool lacks_id(const kafka::CommittedOffset& start) {
  if (!start.topic_id.empty()) return false;
  const auto metadata = read_metadata(start.metadata);
  return !metadata.log.topic.empty() && !metadata.map.empty();
}

Ledger ledger_of(const kafka::CommittedOffset& start) {
  if (start.offset == kafka::no_offset) return Ledger();
  auto decoded = map_after(start);
  if (decoded.map) return Ledger(std::move(*decoded.map));
  warn_ignored(start, decoded.reason);
  return Ledger(start.offset);
}

Suspects suspects_of(const kafka::CommittedOffset& start) {
  const auto field = read_metadata(start.metadata).suspects;
  std::string_view text = field;
  return Suspects::take(text, start.offset);
}

DecodedMap map_after(const kafka::CommittedOffset& commit) {
  return decode(read_metadata(commit.metadata).map, commit.offset);
}

}  // namespace laneway::lane
