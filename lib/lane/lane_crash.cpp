// What a lane does after its process has died (crash_watch.h): it writes down what it is about to do before
// it does it.
#include "lane/lane.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

/// Where commits are refused, records go on without them: a record that kills is rarer than that.
constexpr Duration gate_patience = seconds(2);
/// Nothing has gone wrong yet: a broker that is slow with commits does not keep the first records waiting.
constexpr Duration first_gate_patience = milliseconds(500);
/// A handler that hangs does not kill; it must not keep the other careful lanes waiting.
constexpr Duration hang_grace = seconds(5);
/// Of a careful lane's turn.
constexpr Duration longest_group = seconds(1);

}  // namespace

bool Lane::wants_commit() const {
  return committed_marker_ < wanted_marker_ && ledger_.committable() >= 0 &&
         state_.state() != State::draining;
}

void Lane::begin_carefully() const {
  telemetry::warn("records run a few at a time",
                  {{"topic", partition_.topic},
                   {"partition", partition_.partition},
                   {"epoch", epoch_},
                   {"offset", start_offset_},
                   {"why", "processes that were given this offset died, or lost the partition"},
                   {"times", watch_.lives_before()}});
}

/// How many records may be taken at a time: while it is careful, what is at work together; so many that the
/// other careful lanes have their turn within about a second.
std::uint32_t Lane::run_limit() const {
  if (!watch_.careful()) return run_;
  const auto service = pool_->snapshot().service_time;
  if (service == Duration::zero()) return std::min(run_, watch_.group());
  const std::int64_t side_by_side = ordered_ ? 1 : context_.lanes.workers;
  const auto in_time = std::clamp<std::int64_t>(longest_group / service * side_by_side, 1, run_);
  return std::min(static_cast<std::uint32_t>(in_time), watch_.group());
}

/// Whether the first of these records may go to the pool now.
bool Lane::may_begin(const Pending& next, TimePoint now) {
  if (watch_.careful()) return may_begin_carefully(next, now);
  if (!gated_since_) {
    gated_since_ = now;
    watch_.begin();
    wanted_marker_ = watch_.version();
  }
  const auto patience = watch_.begins_unclean() ? gate_patience : first_gate_patience;
  if (committed_marker_ < wanted_marker_ && now < *gated_since_ + patience) return false;
  gated_ = false;
  return true;
}

bool Lane::may_begin_carefully(const Pending& next, TimePoint now) {
  auto& batch = *next.batch;
  if (next.begin > 0) return true;                      // of the group that is at work
  if (batches_.size() > pending_.size()) return false;  // another one is at work
  if (batch.route != handler::Route::work) return true;
  auto& item = batch.items.front();
  const auto offset = item.offset();
  if (batch.size == 1 && watch_.condemned(offset) && context_.forward != nullptr) {
    condemn(batch, item);
    return true;
  }
  if (!gated_since_) {
    if (context_.careful_turn != nullptr && !context_.careful_turn->take(this, now)) return false;
    watch_.suspect(offset, batch.size);
    wanted_marker_ = watch_.version();
    gated_since_ = now;
  }
  if (committed_marker_ < wanted_marker_ && now < *gated_since_ + gate_patience) return false;
  gated_since_.reset();
  alone_since_ = now;
  return true;
}

/// Its handling has ended the process too often: it goes to the dead-letter topic without another attempt.
void Lane::condemn(handler::RecordBatch& batch, handler::Item& item) {
  item.attempt = watch_.crashes(item.offset());
  auto outcome = handler::Outcome::reject("the process ended " + std::to_string(item.attempt) +
                                          " times while this record was at work (retry.max_crashes)");
  note_failure(item, outcome);
  remember_error(item, outcome);
  give_up(item, handler::Route::dead_letter, delivery::DeadLetterReason::crashed);
  batch.route = handler::Route::dead_letter;
}

void Lane::survived(std::uint32_t records) {
  alone_since_.reset();
  if (context_.careful_turn != nullptr) context_.careful_turn->give_back(this);
  watch_.survived(records);
  if (!watch_.careful()) relax("the records that were at work are through");
}

void Lane::tick_careful(TimePoint now) {
  if (!watch_.careful()) return;
  if (alone_since_ && now >= *alone_since_ + context_.handler->timeout() + hang_grace)
    return relax("a handler hangs, which ends no process");
  const auto high = source_ == nullptr ? kafka::no_offset : source_->log_bounds().end;
  if (ledger_.window() == 0 && high >= 0 && next_offset_ >= high) relax("nothing is left to do");
}

void Lane::relax(const char* why) {
  watch_.relax();
  gated_ = !watch_.begun();
  gated_since_.reset();
  alone_since_.reset();
  if (context_.careful_turn != nullptr) context_.careful_turn->give_back(this);
  log_state("records no longer run a few at a time", why);
}

}  // namespace laneway::lane
