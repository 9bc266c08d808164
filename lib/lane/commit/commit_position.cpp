#include "lane/commit/commit_position.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace laneway::lane {

CommitPosition::CommitPosition(const LaneContext& context, const kafka::CommittedOffset& start,
                               const Ledger& ledger, CrashGate& gate, LaneStats& stats)
    : ledger_(ledger),
      gate_(gate),
      stats_(stats),
      log_{start.topic_id, context.cluster},
      acknowledged_(start) {
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
  sent_finished_ = finished();
  sent_of_this_log_ = true;
  return kafka::CommittedOffset{acknowledged_.partition, offset, metadata(max_map)};
}

/// Without a map, nothing has to name the log.
std::string CommitPosition::metadata(std::size_t most) const {
  const auto fields = fields_of({gate_.watch().marker(), log_, {}});
  const auto map = ledger_.completion_map(most - std::min(most, fields.size()));
  return map.empty() ? fields_of({gate_.watch().marker(), {}, {}}) : fields + map;
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
  committed_finished_ = sent_finished_;
  gate_.committed(sent_marker_version_);
  stats_.committed_offset.set(offset.offset);
  return true;
}

kafka::CommittedOffset CommitPosition::starting_point(std::int64_t first) const {
  const auto& partition = acknowledged_.partition;
  if (acknowledged_.offset == kafka::no_offset) return {partition, first, {}, log_.topic};
  auto metadata = read_metadata(acknowledged_.metadata);
  metadata.lives = gate_.watch().left_behind();  // starting over is no death
  return {partition, acknowledged_.offset, fields_of(metadata) + metadata.map, log_.topic};
}

/// Without the records that an earlier life has finished.
std::uint64_t CommitPosition::finished() const {
  return ledger_.done() + suppressed_before_ - stats_.suppressed.get();
}

bool CommitPosition::has_uncommitted() const {
  const auto offset = ledger_.committable();
  return offset >= 0 && (offset > acknowledged_.offset || ledger_.map_version() != committed_map_version_);
}

void CommitPosition::start_over() {
  acknowledged_ = {acknowledged_.partition, kafka::no_offset, {}};
  log_.topic.clear();  // another topic may have the name now
  sent_of_this_log_ = false;
  committed_finished_ = 0;
  suppressed_before_ = stats_.suppressed.get();
}

}  // namespace laneway::lane
