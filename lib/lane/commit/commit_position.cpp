#include "lane/commit/commit_position.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace laneway::lane {

CommitPosition::CommitPosition(const kafka::CommittedOffset& start, const Ledger& ledger, CrashGate& gate,
                               LaneStats& stats)
    : ledger_(ledger), gate_(gate), stats_(stats), acknowledged_(start) {
  stats_.committed_offset.set(start.offset);
}

std::optional<kafka::CommittedOffset> CommitPosition::candidate(bool drains, std::size_t max_map) {
  const auto offset = ledger_.committable();
  if (offset < 0 || offset < acknowledged_.offset) return std::nullopt;
  auto& watch = gate_.watch();
  if (drains) {
    if (rests_committed(offset)) return std::nullopt;
    watch.end_cleanly();
  } else if (offset > acknowledged_.offset) {
    watch.progressed();
  }
  const auto version = ledger_.map_version();
  if (offset == acknowledged_.offset && version == committed_map_version_ &&
      watch.version() == gate_.committed_version())
    return std::nullopt;
  sent_map_version_ = version;
  sent_marker_version_ = watch.version();
  sent_of_this_log_ = true;
  const auto marker = encode(watch.marker());
  return kafka::CommittedOffset{acknowledged_.partition, offset,
                                marker + ledger_.completion_map(max_map - std::min(max_map, marker.size()))};
}

/// Whether a drain need not commit again. If the topic were deleted and created again meanwhile, unseen by
/// the client, such a commit would give the new topic the old offset, and records of the new topic would be
/// left out.
bool CommitPosition::rests_committed(std::int64_t offset) const {
  return offset == acknowledged_.offset && ledger_.incomplete() == 0 && gate_.watch().lives_before() == 0;
}

bool CommitPosition::committed(const kafka::CommittedOffset& offset) {
  if (!sent_of_this_log_ || offset.offset < acknowledged_.offset) return false;
  acknowledged_ = offset;
  committed_map_version_ = sent_map_version_;
  gate_.committed(sent_marker_version_);
  stats_.committed_offset.set(offset.offset);
  return true;
}

kafka::CommittedOffset CommitPosition::starting_point(std::int64_t first) const {
  const auto& partition = acknowledged_.partition;
  if (acknowledged_.offset == kafka::no_offset) return {partition, first, {}};
  std::string_view map = acknowledged_.metadata;
  (void)take_marker(map);
  // Starting over is no death.
  return {partition, acknowledged_.offset, encode(gate_.watch().left_behind()) + std::string(map)};
}

bool CommitPosition::has_uncommitted() const {
  const auto offset = ledger_.committable();
  return offset >= 0 && (offset > acknowledged_.offset || ledger_.map_version() != committed_map_version_);
}

void CommitPosition::start_over() {
  acknowledged_ = {acknowledged_.partition, kafka::no_offset, {}};
  sent_of_this_log_ = false;
}

}  // namespace laneway::lane
