#include "lane/commit/commit_position.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {

CommitPosition::CommitPosition(const LaneContext& context, const kafka::CommittedOffset& start,
                               const Ledger& ledger, const Suspects& suspects, CrashGate& gate,
                               LaneStats& stats)
    : ledger_(ledger),
      suspects_(suspects),
      gate_(gate),
      stats_(stats),
      log_{start.topic_id, context.cluster},
      suspension_(read_metadata(start.metadata).suspension),
      committed_suspension_(suspension_),
      acknowledged_(start) {
  stats_.committed.offset.set(start.offset);
  stats_.committed.decision_ms.set(suspension_ ? suspension_->at_ms : 0);
  if (context.suspensions != nullptr && suspension_) context.suspensions->saw(suspension_->at_ms);
}

void CommitPosition::decide(const std::optional<Suspension>& asked) {
  if (!asked || (suspension_ && asked->at_ms <= suspension_->at_ms)) return;
  suspension_ = asked;
  const bool unknown_to_brokers = !committed_suspension_ && !sent_suspension_;
  if (!asked->suspended && unknown_to_brokers) stats_.committed.decision_ms.set(asked->at_ms);
}

std::optional<kafka::CommittedOffset> CommitPosition::candidate(bool drains, std::size_t most, bool whole) {
  const auto offset = ledger_.committable();
  if (offset < 0 || offset < acknowledged_.offset) return std::nullopt;
  auto& watch = gate_.watch();
  if (drains) {
    if (rests_committed(offset) && !has_decision_to_commit()) return std::nullopt;
    watch.end_cleanly();
  } else if (offset > acknowledged_.offset) {
    watch.progressed();
  }
  const auto version = ledger_.map_version();
  if (offset == acknowledged_.offset && version == committed_map_version_ &&
      suspects_.version() == committed_suspects_version_ && watch.version() == gate_.committed_version() &&
      !has_decision_to_commit())
    return std::nullopt;
  sent_map_version_ = version;
  sent_suspects_version_ = suspects_.version();
  sent_marker_version_ = watch.version();
  sent_finished_ = finished();
  sent_suspension_ = suspension_;
  sent_of_this_log_ = true;
  return kafka::CommittedOffset{acknowledged_.partition, offset, metadata(offset, most, whole)};
}

/// Without a map, suspects and a suspension, nothing has to name the log. Suspects that do not fit are taken
/// for records that an outage may have stopped. The lane holds if a whole map is too long: suspects must not
/// be the reason for that.
std::string CommitPosition::metadata(std::int64_t offset, std::size_t most, bool whole) const {
  const auto& marker = gate_.watch().marker();
  auto suspects = suspects_.text(offset, most / 4);
  const auto fields = fields_of({marker, log_, suspension_, {}, suspects});
  const auto map = ledger_.completion_map(whole ? max_map_bytes : most - std::min(most, fields.size()));
  if (whole && fields.size() + map.size() > most) suspects.clear();
  const bool named = !map.empty() || !suspects.empty() || (suspension_ && suspension_->suspended);
  auto text = named ? fields_of({marker, log_, suspension_, {}, suspects}) + map
                    : fields_of({marker, {}, suspension_, {}, {}});
  return map.empty() && text.size() > most ? suspension_only(most) : text;
}

/// For brokers that accept hardly any metadata.
std::string CommitPosition::suspension_only(std::size_t most) const {
  auto text = fields_of({{}, {}, suspension_, {}, {}});
  if (text.size() <= most) return text;
  if (suspension_->suspended)
    telemetry::warn(
        "a suspension is too long for the brokers: only this process knows of it, and a restart or another "
        "owner of the partition goes on",
        {{"topic", acknowledged_.partition.topic},
         {"partition", acknowledged_.partition.partition},
         {"bytes", text.size()},
         {"limit", most},
         {"setting", "offset.metadata.max.bytes"}});
  return {};
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
  committed_suspension_ = sent_suspension_;
  committed_suspects_version_ = sent_suspects_version_;
  gate_.committed(sent_marker_version_);
  stats_.committed.offset.set(offset.offset);
  // Brokers that accept hardly any metadata may have got the offset alone, which suspends nothing.
  const bool stored =
      sent_suspension_ && (!sent_suspension_->suspended || read_metadata(offset.metadata).suspension);
  stats_.committed.decision_ms.set(stored ? sent_suspension_->at_ms : 0);
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
  return offset >= 0 && (offset > acknowledged_.offset || ledger_.map_version() != committed_map_version_ ||
                         suspects_.version() != committed_suspects_version_);
}

void CommitPosition::start_over() {
  acknowledged_ = {acknowledged_.partition, kafka::no_offset, {}};
  log_.topic.clear();  // another topic may have the name now
  sent_of_this_log_ = false;
  committed_suspension_.reset();
  stats_.committed.decision_ms.set(0);
  committed_finished_ = 0;
  suppressed_before_ = stats_.suppressed.get();
}

}  // namespace laneway::lane
