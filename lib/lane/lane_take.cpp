// How a lane takes records: as many as there is room for, a run at a time, noted in the ledger in their
// order.
#include <algorithm>

#include "base/key_hash.h"
#include "lane/lane.h"
#include "telemetry/log.h"

namespace laneway::lane {

Lane::Take Lane::take(TimePoint now) {
  const auto fetched_before = source_->fetched();
  if (fetched_before >= context_.memory.fetch.queued_min_messages) was_full_ = true;
  // First: else new records would take all that a rate allows.
  if (attempts_.due(now)) submit_due_retries(now);
  const auto allowed = rate_.room(now);
  if (allowed.none()) {
    update_holds(now);
    return Take::empty;
  }
  const auto most = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(std::min(room(), allowed.records), 1, workload_.run_limit()));
  auto batch = workload_.new_batch();
  const auto delivered_before = delivered_;
  const Take result = pop_run(*batch, most, allowed.bytes, now);
  if (delivered_ != delivered_before) silence_.came();
  flush_noted();
  rate_.charge(batch->items.size(), batch->bytes - batch->items.size() * record_overhead, now);
  if (result == Take::empty) rate_.leave(now);
  if (batch->items.empty()) {
    workload_.put_back(std::move(batch));
  } else {
    new_ones_turn_ = false;
    on_source_answers();
    if (!delayed()) mark_ = mark_of(batch->items.back().record);
    workload_.add(std::move(batch));
    submit(now);
  }
  update_holds(now);
  // The broker's thread may sleep on a buffer that was full and is running low.
  if (was_full_ && fetched_before < context_.memory.fetch.queued_min_messages / 2) {
    was_full_ = false;
    source_->wake();
  }
  return result;
}

/// How many records may be taken.
std::uint64_t Lane::room() const {
  const auto left = [](std::uint64_t limit, std::uint64_t used) { return limit - std::min(limit, used); };
  const auto window = left(context_.lanes.max_incomplete, ledger_.window());
  return delayed() ? std::min(window, left(context_.retry.max_waiting, attempts_.waiting().size())) : window;
}

Lane::Take Lane::pop_run(WorkBatch& batch, std::uint32_t most, std::uint64_t most_bytes, TimePoint now) {
  kafka::Record record;
  std::int64_t offset = 0;
  const auto delivered_before = delivered_;
  for (std::uint32_t popped = 0; popped < most;) {
    switch (source_->pop(record, offset)) {
      case kafka::Pop::record:
        ++popped;
        if ((offset != next_offset_ || was_gone_) && !follows(offset, false, now)) return Take::empty;
        if (resumed_at_) on_first_record(now);
        accept(batch, std::move(record), offset, now);
        if (memory() + batch.bytes >= context_.memory.lane_bytes || batch.bytes >= most_bytes)
          return Take::more;
        break;
      case kafka::Pop::empty:
        if (!dry_since_ || delivered_ != delivered_before) dry_since_ = now;
        not_empty_ = false;
        return Take::empty;
      case kafka::Pop::end_of_partition:
        if ((offset != next_offset_ || was_gone_) && !follows(offset, true, now)) return Take::empty;
        flush_noted();
        ledger_.reached(offset);
        next_offset_ = offset;
        silence_.came();
        on_source_answers();
        break;
      case kafka::Pop::corrupt:
        on_corrupt(offset, now);
        return Take::empty;
      case kafka::Pop::gone:
        was_gone_ = true;
        on_source_error(now);
        break;
      case kafka::Pop::error:
        on_source_error(now);
        break;
    }
  }
  dry_since_.reset();
  return Take::more;
}

void Lane::accept(WorkBatch& batch, kafka::Record record, std::int64_t offset, TimePoint now) {
  if (first_ < 0) first_ = offset;
  delivered_ = offset;
  next_offset_ = offset + 1;
  if (ledger_.completed_before(offset)) {
    flush_noted();
    const Sequence sequence = ledger_.append(offset);
    next_sequence_ = sequence + 1;
    ledger_.complete(sequence);
    stats_->suppressed.add(1);
    batch.consecutive = false;
    return;
  }
  note(offset);
  auto& item = batch.items.emplace_back();
  item.record = std::move(record);
  item.sequence = next_sequence_++;
  item.left_behind = ledger_.left_behind(offset);
  if (delayed() && attempts_.put_off(item, now)) {
    on_source_answers();
    batch.items.pop_back();
    batch.consecutive = false;
    return;
  }
  batch.bytes += memory_of(item);
}

/// Neighbouring offsets go into the ledger in one piece.
void Lane::note(std::int64_t offset) {
  if (noted_ > 0 && offset != noted_first_ + noted_) flush_noted();
  if (noted_ == 0) noted_first_ = offset;
  ++noted_;
}

void Lane::flush_noted() {
  if (noted_ == 0) return;
  ledger_.append(noted_first_, noted_);
  noted_ = 0;
}

void Lane::on_first_record(TimePoint now) {
  const auto latency = now - *resumed_at_;
  stats_->resume_latency.record(latency);
  resume_latency_ = (resume_latency_ * 3 + latency) / 4;
  resumed_at_.reset();
}

}  // namespace laneway::lane
