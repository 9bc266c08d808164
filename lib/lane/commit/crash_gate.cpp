#include "lane/commit/crash_gate.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

/// If commits are refused, records go on without them, because a record that kills is rarer.
constexpr Duration gate_patience = seconds(2);
/// Nothing has gone wrong yet: a broker with slow commits must not keep the first records waiting.
constexpr Duration first_gate_patience = milliseconds(500);
/// A handler that hangs does not kill the process; it must not keep the other careful lanes waiting.
constexpr Duration hang_grace = seconds(5);
/// The time for a careful lane's turn.
constexpr Duration longest_group = seconds(1);

/// Of all stages: the group may be in any of them.
Duration longest_timeout(const LaneContext& context) {
  Duration longest{};
  for (const auto& stage : context.stages) longest = std::max(longest, stage.handler->timeout());
  return longest;
}

/// The sub-jobs of a record are one suspect: a later life does not find out more about them.
std::uint32_t records_of(const handler::RecordBatch& batch) {
  std::uint32_t records = 1;
  for (std::size_t i = 1; i < batch.items.size(); ++i)
    records += batch.items[i].sequence != batch.items[i - 1].sequence;
  return records;
}

}  // namespace

CrashGate::CrashGate(const LaneContext& context, const LaneId& id, const Ledger& ledger,
                     const StoredCommit& start)
    : context_(context),
      id_(id),
      ledger_(ledger),
      start_offset_(start.offset),
      closed_(context.retry.max_crashes > 0) {
  if (closed_) watch_.emplace(start.lives, context.retry.max_crashes, context.process);
}

void CrashGate::warn_careful() const {
  telemetry::warn("careful mode begins",
                  {{"topic", id_.partition.topic},
                   {"partition", id_.partition.partition},
                   {"epoch", id_.epoch},
                   {"offset", start_offset_},
                   {"why", "earlier processes crashed at this offset, or lost the partition"},
                   {"times", watch_->lives_before()}});
}

void CrashGate::drain() {
  closed_ = careful();
  if (!closed_ || alone_since_) return;
  waits_since_.reset();  // the records that waited for their commit are given back
  leave();
}

void CrashGate::leave() {
  if (context_.careful_turn != nullptr) context_.careful_turn->give_back(this);
}

std::uint32_t CrashGate::run_limit(std::uint32_t run, Duration service_time) const {
  if (service_time == Duration::zero()) return std::min(run, watch_->group());
  const std::int64_t side_by_side =
      context_.lanes.order == config::Order::none ? context_.stages.front().settings.workers : 1;
  const auto in_time = std::clamp<std::int64_t>(longest_group / service_time * side_by_side, 1, run);
  return std::min(static_cast<std::uint32_t>(in_time), watch_->group());
}

CrashGate::Entry CrashGate::may_begin(const handler::RecordBatch& batch, bool begun, bool alone,
                                      TimePoint now) {
  if (!closed_) return Entry::now;
  if (careful()) return may_begin_carefully(batch, begun, alone, now);
  if (!waits_since_) {
    waits_since_ = now;
    watch_->begin();
    wanted_version_ = watch_->version();
  }
  const auto patience = watch_->begins_unclean() ? gate_patience : first_gate_patience;
  if (wants_commit() && now < *waits_since_ + patience) return Entry::later;
  closed_ = false;
  return Entry::now;
}

CrashGate::Entry CrashGate::may_begin_carefully(const handler::RecordBatch& batch, bool begun, bool alone,
                                                TimePoint now) {
  if (begun) return Entry::now;  // part of the running group
  if (!alone) return Entry::later;
  if (batch.route != handler::Route::work) return Entry::now;
  const auto offset = batch.items.front().offset();
  if (batch.size == 1 && watch_->condemned(offset) && context_.forward != nullptr) return Entry::condemned;
  if (!waits_since_) {
    if (context_.careful_turn != nullptr && !context_.careful_turn->take(this, now)) return Entry::later;
    watch_->suspect(offset, records_of(batch));
    wanted_version_ = watch_->version();
    waits_since_ = now;
  }
  if (wants_commit() && now < *waits_since_ + gate_patience) return Entry::later;
  waits_since_.reset();
  alone_since_ = now;
  return Entry::now;
}

void CrashGate::survived(const handler::RecordBatch& batch) {
  if (!alone_since_) return;
  alone_since_.reset();
  leave();
  watch_->survived(batch.passes_on ? 0 : records_of(batch));
  if (!watch_->careful()) relax("the records that were running during the crashes are finished");
}

void CrashGate::tick(std::int64_t log_end, std::int64_t next_offset, TimePoint now) {
  if (!careful()) return;
  if (alone_since_ && now >= *alone_since_ + longest_timeout(context_) + hang_grace)
    return relax("a handler hangs, and a handler that hangs does not crash the process");
  if (ledger_.window() == 0 && log_end >= 0 && next_offset >= log_end) relax("no records are left");
}

void CrashGate::relax(const char* why) {
  watch_->relax();
  closed_ = !watch_->begun();
  waits_since_.reset();
  alone_since_.reset();
  leave();
  id_.log("careful mode ends", ledger_.committable(), why);
}

}  // namespace laneway::lane
