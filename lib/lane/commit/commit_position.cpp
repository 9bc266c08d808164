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

/// Brokers that accept hardly any metadata do not even get a suspension.
void warn_not_stored(const StoredCommit& commit, std::size_t most) {
  telemetry::warn(
      "a suspension is too long for the brokers: only this process knows of it, and a restart or another "
      "owner of the partition goes on",
      {{"topic", commit.partition.topic},
       {"partition", commit.partition.partition},
       {"bytes", StoredCommit{.suspension = commit.suspension}.written().metadata.size()},
       {"limit", most},
       {"setting", "offset.metadata.max.bytes"}});
}

}  // namespace

StoredCommit own_start(const LaneContext& context, StoredCommit start) {
  if (start.log.topic.empty() && start.log.cluster.empty()) return start;
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
  // A drain need not commit again. If the topic were deleted and created again meanwhile, unseen by the
  // client, such a commit would give the new topic the old offset, and records of the new topic would be left
  // out.
  auto* const watch = gate_.watch();
  const bool rests = offset == acknowledged_.offset && ledger_.incomplete() == 0 &&
                     (watch == nullptr || watch->lives_before() == 0);
  if (drains && rests && !has_decision_to_commit()) return std::nullopt;
  if (watch != nullptr && drains) watch->end_cleanly();
  if (watch != nullptr && !drains && offset > acknowledged_.offset) watch->progressed();
  const auto marker_version = watch == nullptr ? 0 : watch->version();
  if (!has_uncommitted() && marker_version == committed_.marker_version && !has_decision_to_commit())
    return std::nullopt;
  sent_ = {ledger_.map_version(), suspects_.version(), marker_version, suspension_, finished()};
  sent_of_this_log_ = true;
  const bool any_beyond = ledger_.completed_beyond() > 0;
  const StoredCommit commit{.partition = acknowledged_.partition,
                            .offset = offset,
                            .log = log_,
                            .lives = watch == nullptr ? LifeMarker{} : watch->marker(),
                            .suspension = suspension_,
                            .suspects = suspects_.offsets(),
                            .map = any_beyond ? ledger_.completed(most_runs(whole ? max_map_bytes : most))
                                              : CompletionMap{offset, {}}};
  auto written = commit.written(most, whole);
  if (written.metadata.empty() && suspended_ms()) warn_not_stored(commit, most);
  return written;
}

bool CommitPosition::committed(const kafka::CommittedOffset& offset) {
  if (!sent_of_this_log_ || offset.offset < acknowledged_.offset) return false;
  acknowledged_ = StoredCommit::read(offset);
  if (sent_.marker_version != committed_.marker_version) gate_.committed(sent_.marker_version);
  committed_ = sent_;
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
  if (const auto* watch = gate_.watch()) start.lives = watch->left_behind();  // starting over is no death
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
