#include "lane/commit/commit_position.h"

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

CommitPosition::CommitPosition(const LaneContext& context, const StoredCommit& start, const Ledger& ledger,
                               const Suspects& suspects, CrashGate& gate, LaneStats& stats)
    : ledger_(ledger),
      suspects_(suspects),
      gate_(gate),
      stats_(stats),
      log_{start.topic_id, context.cluster},
      suspension_(start.suspension),
      acknowledged_(start),
      committed_{.suspension = suspension_} {
  stats_.committed.offset.set(start.offset);
  stats_.committed.decision_ms.set(suspension_ ? suspension_->at_ms : 0);
  if (context.suspensions != nullptr && suspension_) context.suspensions->saw(suspension_->at_ms);
}

void CommitPosition::decide(const std::optional<Suspension>& asked) {
  if (!asked || (suspension_ && asked->at_ms <= suspension_->at_ms)) return;
  suspension_ = asked;
  const bool unknown_to_brokers = !committed_.suspension && !sent_.suspension;
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
  if (!has_uncommitted() && watch.version() == committed_.marker_version && !has_decision_to_commit())
    return std::nullopt;
  sent_ = contents();
  sent_of_this_log_ = true;
  return written(offset, most, whole);
}

/// Brokers that accept hardly any metadata do not even get a suspension.
kafka::CommittedOffset CommitPosition::written(std::int64_t offset, std::size_t most, bool whole) const {
  const StoredCommit commit{.partition = acknowledged_.partition,
                            .offset = offset,
                            .log = log_,
                            .lives = gate_.watch().marker(),
                            .suspension = suspension_,
                            .suspects = suspects_.offsets(),
                            .map = ledger_.completed(most_runs(whole ? max_map_bytes : most))};
  auto written = commit.written(most, whole);
  if (suspended_ms() && written.metadata.empty())
    telemetry::warn(
        "a suspension is too long for the brokers: only this process knows of it, and a restart or another "
        "owner of the partition goes on",
        {{"topic", commit.partition.topic},
         {"partition", commit.partition.partition},
         {"bytes", StoredCommit{.suspension = suspension_}.written().metadata.size()},
         {"limit", most},
         {"setting", "offset.metadata.max.bytes"}});
  return written;
}

/// Whether a drain need not commit again. If the topic were deleted and created again meanwhile, unseen by
/// the client, such a commit would give the new topic the old offset, and records of the new topic would be
/// left out.
bool CommitPosition::rests_committed(std::int64_t offset) const {
  return offset == acknowledged_.offset && ledger_.incomplete() == 0 && gate_.watch().lives_before() == 0;
}

bool CommitPosition::committed(const kafka::CommittedOffset& offset) {
  if (!sent_of_this_log_ || offset.offset < acknowledged_.offset) return false;
  acknowledged_ = StoredCommit::read(offset);
  committed_ = sent_;
  gate_.committed(sent_.marker_version);
  stats_.committed.offset.set(offset.offset);
  // Brokers that accept hardly any metadata may have got the offset alone, which suspends nothing.
  const auto& decision = sent_.suspension;
  const bool stored = decision && (!decision->suspended || acknowledged_.suspension);
  stats_.committed.decision_ms.set(stored ? decision->at_ms : 0);
  return true;
}

StoredCommit CommitPosition::starting_point(std::int64_t first) const {
  const auto& partition = acknowledged_.partition;
  if (acknowledged_.offset == kafka::no_offset)
    return {.partition = partition, .offset = first, .topic_id = log_.topic};
  auto start = acknowledged_;
  start.topic_id = log_.topic;
  start.lives = gate_.watch().left_behind();  // starting over is no death
  return start;
}

/// Without the records that an earlier life has finished.
std::uint64_t CommitPosition::finished() const {
  return ledger_.done() + suppressed_before_ - stats_.suppressed.get();
}

bool CommitPosition::has_uncommitted() const {
  const auto offset = ledger_.committable();
  return offset >= 0 && (offset > acknowledged_.offset || ledger_.map_version() != committed_.map_version ||
                         suspects_.version() != committed_.suspects_version);
}

void CommitPosition::start_over() {
  acknowledged_ = {.partition = acknowledged_.partition};
  log_.topic.clear();  // another topic may have the name now
  sent_of_this_log_ = false;
  committed_.suspension.reset();
  stats_.committed.decision_ms.set(0);
  committed_.finished = 0;
  suppressed_before_ = stats_.suppressed.get();
}

}  // namespace laneway::lane
