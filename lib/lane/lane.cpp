#include "lane/lane.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr std::uint32_t longest_run = 256;

Ledger make_ledger(const kafka::CommittedOffset& start) {
  if (start.offset == kafka::no_offset) return Ledger();
  std::string_view map = start.metadata;
  (void)take_marker(map);
  auto decoded = decode(map, start.offset);
  if (decoded.map) return Ledger(std::move(*decoded.map));
  telemetry::warn("completion map ignored", {{"topic", start.partition.topic},
                                             {"partition", start.partition.partition},
                                             {"offset", start.offset},
                                             {"error", decoded.reason}});
  return Ledger(start.offset);
}

const delivery::RetryStage* stage_of(const LaneContext& context, const std::string& topic) {
  return context.retry_stages == nullptr ? nullptr : context.retry_stages->find(topic);
}

std::uint32_t run_length(std::uint32_t queue) { return std::clamp<std::uint32_t>(queue, 1, longest_run); }

}  // namespace

Lane::Lane(const LaneContext& context, const kafka::CommittedOffset& start, std::uint64_t epoch,
           std::function<void()> on_ready)
    : context_(context),
      id_{start.partition, epoch},
      ordered_(context.lanes.order != config::Order::none),
      stage_(stage_of(context, id_.partition.topic)),
      run_(run_length(context.lanes.queue)),
      stats_(std::make_unique<LaneStats>()),
      state_(context.lanes.pause_after),
      ledger_(make_ledger(start)),
      oldest_(context, id_, ledger_, state_, delayed(), *stats_),
      attempts_(context, id_, ledger_, oldest_, stage_),
      gate_(context, id_, ledger_, start),
      commits_(start, ledger_, gate_, *stats_),
      rate_(context),
      next_offset_(start.offset),
      silence_(context, id_.partition),
      execution_(context, id_.partition, epoch, *stats_, on_ready),
      pool_(std::make_unique<pool::Pool>(pool::Limits{.workers = context.lanes.workers,
                                                      .queue = context.lanes.queue,
                                                      .most_per_claim = context.handler->most_per_task(),
                                                      .job_deadline = context.handler->timeout(),
                                                      .asynchronous = context.handler->asynchronous(),
                                                      .whole_claims = context.handler->fills_tasks()},
                                         execution_, on_ready)) {
  execution_.set_pool(*pool_);
  stats_->delivered_offset.set(-1);
  stats_->lag.set(-1);
}

void Lane::start(std::unique_ptr<PartitionSource> source, TimePoint now) {
  source_ = std::move(source);
  gate_.start();
  follow_hand(now);
  silence_.start(next_offset_, now);
  state_.start(now);
  show_state();
}

void Lane::follow_settings(TimePoint now) {
  run_ = run_length(context_.lanes.queue);
  attempts_.follow_settings();
  state_.set_pause_after(context_.lanes.pause_after);
  rate_.follow_settings(now);
  pool_->resize(context_.lanes.workers, context_.lanes.queue);
  submit(now);
}

bool Lane::work(TimePoint now) {
  if (state_.state() == State::revoked) return false;
  not_empty_ = true;  // the source may have signalled
  collect(now);
  submit(now);
  bool more = false;
  if (state_.may_take()) more = take(now) == Take::more && state_.may_take();
  if (state_.state() == State::draining) drained_ = pending_.empty() && pool_->drained() && batches_.empty();
  return more;
}

void Lane::enqueue(BatchPtr batch) {
  if (batch->items.empty()) {
    batch->bytes = 0;
    spare_.push_back(std::move(batch));
    return;
  }
  batch->size = static_cast<std::uint32_t>(batch->items.size());
  batch->unfinished = batch->size;
  batch->life = ledger_life_;
  batch->place = batches_.size();
  bytes_ += batch->bytes;
  pending_.push_back({batch.get(), 0});
  batches_.push_back(std::move(batch));
}

/// The records that the breaker has not let begin ask the downstream; without any, new ones are taken.
bool Lane::breaker_holds() const { return !context_.downstream->closed() && attempts_.waiting().fresh() > 0; }

void Lane::submit(TimePoint now) {
  while (!pending_.empty()) {
    auto& next = pending_.front();
    if (gate_.closed() && !may_begin(next, now)) break;
    const auto submitted = pool_->try_submit(*next.batch, next.begin);
    next.begin += submitted.taken;
    if (submitted.admission == pool::Admission::accepted) {
      pending_.pop_front();
      continue;
    }
    if (!state_.has(Hold::pool_full)) stats_->rejections.add(1);
    // Half the queue is left to work on while the next records come.
    pool_->notify_at(std::max(context_.lanes.workers + context_.lanes.queue / 2, 1U) -
                     (context_.lanes.queue < 2 ? 1 : 0));
    break;
  }
  update_holds(now);
}

void Lane::update_holds(TimePoint now) {
  const auto was = state_.state();
  const auto keep = [](std::uint64_t value, std::uint64_t limit, bool has) {
    return value >= (has ? limit - limit / 4 : limit);  // a quarter must be free again before it goes on
  };
  state_.set(Hold::pool_full, !pending_.empty(), now);
  state_.set(Hold::window_full,
             keep(ledger_.window(), context_.lanes.max_incomplete, state_.has(Hold::window_full)), now);
  state_.set(Hold::memory_full, keep(memory(), context_.memory.lane_bytes, state_.has(Hold::memory_full)),
             now);
  // Else those that wait, if they all are poison records, keep the end of an outage from being seen.
  const bool asks_new = !context_.downstream->closed() && attempts_.waiting().fresh() == 0;
  const bool retries_full =
      keep(attempts_.waiting().size(), context_.retry.max_waiting, state_.has(Hold::retries_full));
  state_.set(Hold::retries_full, retries_full && !asks_new, now);
  state_.set(Hold::breaker_open, breaker_holds(), now);
  state_.set(Hold::position, judge_.in_doubt() || (corrupt_at_ && !reads_again_), now);
  const bool wants_none = state_.held_by_other_than(Hold::rate_limited) && !attempts_.due(now);
  if (wants_none) rate_.leave(now);
  state_.set(Hold::rate_limited, !wants_none && rate_.waits(now), now);
  execution_.set_eager(state_.state() == State::draining || state_.has(Hold::window_full) ||
                       state_.has(Hold::memory_full) || keys_.waiting() > 0 || gate_.careful());
  if (state_.state() != was) show_state();
}

std::string_view Lane::words_of(const HoldReason& reason) const {
  if (reason.hold == Hold::pool_full && gate_.careful()) return "a few records at a time";
  if (reason.hold == Hold::pool_full && gate_.closed()) return "waits for its first commit";
  if (reason.hold == Hold::rate_limited && rate_.keeps_pace()) return "the downstream asks for fewer calls";
  if (reason.hold == Hold::position && corrupt_at_) return "corrupt records";
  return reason.words;
}

std::string Lane::held_by() const {
  std::string text;
  for (const auto& reason : hold_reasons) {
    if (!state_.has(reason.hold)) continue;
    if (!text.empty()) text += ", ";
    text += words_of(reason);
  }
  return text;
}

void Lane::show_state() {
  stats_->state.set(state_.state());
  stats_->hold_bits.set(state_.reasons());
}

Lane::BatchPtr Lane::new_batch() {
  BatchPtr batch;
  if (spare_.empty()) {
    batch = std::make_unique<handler::RecordBatch>();
  } else {
    batch = std::move(spare_.back());
    spare_.pop_back();
  }
  batch->sequential = false;
  batch->consecutive = true;
  batch->route = handler::Route::work;
  batch->bytes = 0;
  batch->unfinished_bytes = 0;
  return batch;
}

void Lane::recycle(handler::RecordBatch* batch) {
  constexpr std::size_t most_spare = 8;
  bytes_ -= std::min(bytes_, batch->bytes);
  const auto not_processed = batch->size * record_overhead + batch->unfinished_bytes;
  stats_->processed_bytes.add(batch->bytes - std::min<std::uint64_t>(batch->bytes, not_processed));
  const auto place = batch->place;
  BatchPtr owned = std::move(batches_[place]);
  if (place + 1 != batches_.size()) {
    batches_[place] = std::move(batches_.back());
    batches_[place]->place = place;
  }
  batches_.pop_back();
  owned->items.clear();
  if (spare_.size() < most_spare) spare_.push_back(std::move(owned));
}

bool Lane::current(const handler::RecordBatch& batch) const { return batch.life == ledger_life_; }

}  // namespace laneway::lane
