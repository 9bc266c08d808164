#include "lane/intake/intake.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace laneway::lane {
namespace {

/// Good records must not be skipped for the sake of a limit.
constexpr const char* not_decompressed =
    "cannot be decompressed; before you take it for corrupt, raise kafka.receive.message.max.bytes, which "
    "also limits the decompressed size of a batch, and restart the service";

}  // namespace

/// The lane takes records only while there is room: a full window or a full memory holds the lane.
Take Intake::run(PartitionSource& source, WorkBatch& batch, const RateLimiter::Room& allowed, TimePoint now) {
  const auto most = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      std::min(room(), allowed.records), 1, lane_.stages.all().front()->workload().run_limit()));
  const auto delivered_before = lane_.position.delivered();
  const Take result = pop_run(source, batch, most, allowed.bytes, now);
  if (lane_.position.delivered() != delivered_before) lane_.silence.came();
  flush_noted();
  if (!batch.items.empty()) {
    if (lane_.errors.any()) lane_.position.answers();
    if (!delayed_) lane_.position.remember(batch.items.back().record);
  }
  return result;
}

/// The first record that the source delivers comes again later.
void Intake::find_beginning(PartitionSource& source, TimePoint now) {
  kafka::Record record;
  std::int64_t offset = 0;
  const auto popped = source.pop(record, offset);
  if (popped == kafka::Pop::empty || unreadable(popped, source, offset, now)) return;
  if (popped == kafka::Pop::record) source.seek(offset);
  lane_.position.reached(offset);
  lane_.position.answers();
}

/// Notes why the source could not deliver. Returns false for a record and for the end of the partition.
bool Intake::unreadable(kafka::Pop popped, PartitionSource& source, std::int64_t offset, TimePoint now) {
  auto& position = lane_.position;
  if (popped == kafka::Pop::corrupt) position.on_corrupt(source, offset, "is corrupt", now);
  if (popped == kafka::Pop::not_decompressed) position.on_corrupt(source, offset, not_decompressed, now);
  if (popped == kafka::Pop::gone) position.on_gone(source, now);
  if (popped == kafka::Pop::error) position.on_error(source, now);
  return popped != kafka::Pop::record && popped != kafka::Pop::end_of_partition;
}

/// How many records may be taken.
std::uint64_t Intake::room() const {
  const std::uint64_t most = context_.lanes.max_incomplete;
  const auto window = most - std::min(most, lane_.ledger.window());
  if (!delayed_) return window;
  const std::uint64_t most_waiting = context_.retry.max_waiting;
  const std::uint64_t waiting = lane_.stages.waiting_attempts();
  return std::min(window, most_waiting - std::min(most_waiting, waiting));
}

bool Intake::has_room() const { return lane_.stages.bytes() < context_.memory.lane_bytes && room() > 0; }

Take Intake::pop_run(PartitionSource& source, WorkBatch& batch, std::uint32_t most, std::uint64_t most_bytes,
                     TimePoint now) {
  kafka::Record record;
  std::int64_t offset = 0;
  auto& position = lane_.position;
  const auto delivered_before = position.delivered();
  const auto taken = lane_.stages.bytes();
  const auto limit = exceeds_memory_ ? std::numeric_limits<std::uint64_t>::max() : context_.memory.lane_bytes;
  for (std::uint32_t popped = 0; popped < most;) {
    const auto outcome = source.pop(record, offset);
    switch (outcome) {
      case kafka::Pop::record:
        ++popped;
        if (!position.expects(offset)) {
          if (position.read_again(record, offset)) break;
          if (!follows(source, offset, false, now)) return Take::empty;
        }
        if (resumed_at_) measure_resume(now);
        accept(batch, std::move(record), offset, now);
        if (taken + batch.bytes >= limit || batch.bytes >= most_bytes) return Take::more;
        break;
      case kafka::Pop::empty:
        lane_.prefetch.ran_dry(position.delivered() != delivered_before, now);
        not_empty_ = false;
        return Take::empty;
      case kafka::Pop::end_of_partition:
        if (!on_end(source, offset, now)) return Take::empty;
        break;
      default:
        (void)unreadable(outcome, source, offset, now);
        if (!position.blocked()) break;
        lane_.prefetch.flows();
        return Take::empty;
    }
  }
  lane_.prefetch.flows();
  return Take::more;
}

/// Returns false if nothing is taken now.
bool Intake::on_end(PartitionSource& source, std::int64_t offset, TimePoint now) {
  lane_.position.end_recognition();
  if (!lane_.position.expects(offset) && !follows(source, offset, true, now)) return false;
  flush_noted();
  lane_.position.reached(offset);
  lane_.silence.came();
  lane_.position.answers();
  return true;
}

/// Handles an offset for which LogPosition::expects() is false. Returns false if the position is in doubt and
/// nothing is taken.
bool Intake::follows(PartitionSource& source, std::int64_t offset, bool end, TimePoint now) {
  if (lane_.position.follows(source, offset, end, now)) return true;
  lane_.prefetch.flows();
  return false;
}

void Intake::measure_resume(TimePoint now) {
  const auto latency = now - *resumed_at_;
  lane_.stats.resume_latency.record(latency);
  lane_.pause.record_came(latency);
  resumed_at_.reset();
}

void Intake::accept(WorkBatch& batch, kafka::Record record, std::int64_t offset, TimePoint now) {
  auto& ledger = lane_.ledger;
  lane_.position.took(offset);
  const bool restores = ledger.restores();
  const bool completed = restores && ledger.completed_before(offset);
  // A delayed record becomes what it was in its own topic, and a completed one does not join the batch.
  if (delayed_ || completed) lane_.position.remember(record);
  if (completed) {
    flush_noted();
    const Sequence sequence = ledger.append(offset);
    next_sequence_ = sequence + 1;
    ledger.complete(sequence);
    lane_.stats.suppressed.add(1);
    batch.consecutive = false;
    return;
  }
  // Neighbouring offsets go into the ledger in one piece.
  if (noted_ > 0 && offset != noted_first_ + noted_) flush_noted();
  if (noted_++ == 0) noted_first_ = offset;
  auto& item = batch.items.emplace_back();
  item.record = std::move(record);
  item.sequence = next_sequence_++;
  item.left_behind = restores && ledger.left_behind(offset);
  item.suspect = !lane_.suspects.offsets().empty() && lane_.suspects.contains(offset);
  if (delayed_ && lane_.stages.put_off(item, now)) {
    lane_.position.answers();
    batch.items.pop_back();
    batch.consecutive = false;
    return;
  }
  batch.count(item);
}

void Intake::flush_noted() {
  if (noted_ == 0) return;
  lane_.ledger.append(noted_first_, noted_);
  noted_ = 0;
}

}  // namespace laneway::lane
