#include "lane/lane.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr std::uint32_t longest_run = 256;

LifeMarker life_before(const kafka::CommittedOffset& start) {
  std::string_view metadata = start.metadata;
  return take_marker(metadata);
}

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

/// In a retry topic each record has one attempt.
delivery::FailureRules make_rules(const LaneContext& context, const delivery::RetryStage* stage) {
  const auto& retry = context.retry;
  return {{retry.backoff, retry.max_backoff, std::max<Duration>(retry.max_backoff, seconds(60))},
          stage != nullptr && stage->delayed() ? 1 : retry.attempts,
          retry.max_elapsed,
          context.forward != nullptr};
}

std::uint32_t run_length(std::uint32_t queue) { return std::clamp<std::uint32_t>(queue, 1, longest_run); }

}  // namespace

Lane::Lane(const LaneContext& context, const kafka::CommittedOffset& start, std::uint64_t epoch,
           std::function<void()> on_ready)
    : context_(context),
      partition_(start.partition),
      epoch_(epoch),
      ordered_(context.lanes.order != config::Order::none),
      start_offset_(start.offset),
      stage_(stage_of(context, partition_.topic)),
      run_(run_length(context.lanes.queue)),
      rules_(make_rules(context, stage_)),
      stats_(std::make_unique<LaneStats>()),
      state_(context.lanes.pause_after),
      ledger_(make_ledger(start)),
      watch_(life_before(start), context.retry.max_crashes),
      random_(static_cast<std::uint32_t>(epoch * 7919 + 17)),
      rate_(context.lanes.rate),
      next_offset_(start.offset),
      acknowledged_(start),
      wanted_marker_(watch_.version()),
      gated_(watch_.watches()),
      execution_(context, partition_, epoch, *stats_, on_ready),
      pool_(std::make_unique<pool::Pool>(pool::Limits{.workers = context.lanes.workers,
                                                      .queue = context.lanes.queue,
                                                      .most_per_claim = context.handler->most_per_task(),
                                                      .job_deadline = context.handler->timeout(),
                                                      .asynchronous = context.handler->asynchronous(),
                                                      .whole_claims = context.handler->fills_tasks()},
                                         execution_, on_ready)) {
  execution_.set_pool(*pool_);
  stats_->committed_offset.set(start.offset);
  stats_->delivered_offset.set(-1);
  stats_->lag.set(-1);
}

void Lane::start(std::unique_ptr<PartitionSource> source, TimePoint now) {
  source_ = std::move(source);
  if (watch_.careful()) begin_carefully();
  follow_hand(now);
  state_.start(now);
  show_state();
}

void Lane::follow_settings(TimePoint now) {
  run_ = run_length(context_.lanes.queue);
  rules_ = make_rules(context_, stage_);
  state_.set_pause_after(context_.lanes.pause_after);
  rate_.change(context_.lanes.rate, now);
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

Lane::Take Lane::take(TimePoint now) {
  const auto fetched_before = source_->fetched();
  if (fetched_before >= context_.memory.fetch.queued_min_messages) was_full_ = true;
  const auto allowed = rate_room(now);
  if (allowed.none()) {
    update_holds(now);
    return Take::empty;
  }
  const auto most = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(std::min(room(), allowed.records), 1, run_limit()));
  auto batch = new_batch();
  const Take result = pop_run(*batch, most, allowed.bytes, now);
  flush_noted();
  charge(batch->items.size(), batch->bytes - batch->items.size() * record_overhead, now);
  if (batch->items.empty()) {
    spare_.push_back(std::move(batch));
  } else {
    on_source_answers();
    if (ordered_) apply_order(*batch);
    enqueue(std::move(batch));
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
  return delayed() ? std::min(window, left(context_.retry.max_waiting, retries_.size())) : window;
}

RateLimiter::Room Lane::rate_room(TimePoint now) {
  RateLimiter::Room room;
  if (rate_.limited()) room = rate_.room(now);
  if (auto* shared = process_rate()) room = least(room, shared->room(now));
  return room;
}

void Lane::charge(std::uint64_t records, std::uint64_t bytes, TimePoint now) {
  if (rate_.limited()) rate_.charge(now, records, bytes);
  if (auto* shared = process_rate()) shared->charge(now, records, bytes);
}

TimePoint Lane::rate_ready_at(TimePoint now) {
  auto at = rate_.ready_at(now);
  if (auto* shared = process_rate()) at = std::max(at, shared->ready_at(now));
  return at;
}

Lane::Take Lane::pop_run(handler::RecordBatch& batch, std::uint32_t most, std::uint64_t most_bytes,
                         TimePoint now) {
  kafka::Record record;
  std::int64_t offset = 0;
  const auto delivered_before = delivered_;
  for (std::uint32_t popped = 0; popped < most;) {
    switch (source_->pop(record, offset)) {
      case kafka::Pop::record:
        ++popped;
        if (delivered_ < 0 || resumed_at_) on_first_record(offset, now);
        if (offset <= delivered_ || ledger_.would_go_back(offset)) start_over(batch, offset);
        accept(batch, std::move(record), offset, now);
        if (bytes_ + batch.bytes >= context_.memory.lane_bytes || batch.bytes >= most_bytes)
          return Take::more;
        break;
      case kafka::Pop::empty:
        if (!dry_since_ || delivered_ != delivered_before) dry_since_ = now;
        not_empty_ = false;
        return Take::empty;
      case kafka::Pop::end_of_partition:
        flush_noted();
        ledger_.reached(offset);
        next_offset_ = std::max(next_offset_, offset);
        on_source_answers();
        break;
      case kafka::Pop::error:
        on_source_error(now);
        break;
    }
  }
  dry_since_.reset();
  return Take::more;
}

void Lane::accept(handler::RecordBatch& batch, kafka::Record record, std::int64_t offset, TimePoint now) {
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
  if (delayed() && put_off(item, now)) {
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

void Lane::on_first_record(std::int64_t offset, TimePoint now) {
  if (resumed_at_) {
    const auto latency = now - *resumed_at_;
    stats_->resume_latency.record(latency);
    resume_latency_ = (resume_latency_ * 3 + latency) / 4;
    resumed_at_.reset();
  }
  if (delivered_ < 0 && start_offset_ != kafka::no_offset && offset > start_offset_)
    telemetry::warn("offset gap",
                    {{"topic", partition_.topic},
                     {"partition", partition_.partition},
                     {"offset", offset},
                     {"committed", start_offset_},
                     {"missing", offset - start_offset_},
                     {"hint", "not in the log any more: retention, compaction or control records"}});
}

/// Backward delivery: the topic was truncated or made anew. What is at work belongs to the past and is
/// dropped when it finishes; clamping to the old offsets would freeze the commits. What was popped before in
/// the same run goes as well.
void Lane::start_over(handler::RecordBatch& batch, std::int64_t offset) {
  telemetry::warn("offsets went back", {{"topic", partition_.topic},
                                        {"partition", partition_.partition},
                                        {"offset", offset},
                                        {"expected", next_offset_},
                                        {"hint", "topic truncated or recreated: starting over from here"}});
  flush_noted();
  ledger_ = Ledger(offset);
  next_sequence_ = 0;
  ++ledger_life_;
  batch.items.clear();
  batch.bytes = 0;
  batch.consecutive = true;
  let_go(keys_.clear());
  keys_ = {};
  let_go(retries_.clear(&handler::Item::sequence));
  skips_.clear();
  give_back_pending();
  acknowledged_ = {partition_, kafka::no_offset, {}};
  first_ = -1;
  if (watch_.careful()) relax("the offsets went back");
}

void Lane::apply_order(handler::RecordBatch& batch) {
  if (context_.lanes.order == config::Order::partition) {
    for (auto& item : batch.items) item.key = 1;
    batch.sequential = true;
    if (!keys_.admit(1, std::span<handler::Item>(batch.items))) {
      bytes_ += batch.bytes;  // they wait outside any batch; given back with theirs
      batch.items.clear();
    }
    return;
  }
  auto kept = batch.items.begin();
  for (auto& item : batch.items) {
    const auto key = item.record.key();
    if (key)
      item.key = key_hash(*key);
    else
      item.key = context_.lanes.null_keys == config::NullKeys::ordered ? 1 : 0;
    const auto memory = memory_of(item);
    if (item.key != 0 && !keys_.admit(item.key, item)) {
      batch.bytes -= memory;  // it waits outside the batch
      bytes_ += memory;
      continue;
    }
    if (&*kept != &item) *kept = std::move(item);
    ++kept;
  }
  if (kept != batch.items.end()) {
    batch.items.erase(kept, batch.items.end());
    batch.consecutive = false;
  }
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

/// The records that wait for it ask the downstream first; without any, new ones do.
bool Lane::breaker_holds() const {
  return context_.downstream != nullptr && !context_.downstream->closed() && retries_.size() > 0;
}

void Lane::submit(TimePoint now) {
  while (!pending_.empty()) {
    auto& next = pending_.front();
    if (gated_ && !may_begin(next, now)) break;
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
  state_.set(Hold::memory_full, keep(bytes_, context_.memory.lane_bytes, state_.has(Hold::memory_full)), now);
  state_.set(Hold::retries_full,
             keep(retries_.size(), context_.retry.max_waiting, state_.has(Hold::retries_full)), now);
  state_.set(Hold::breaker_open, breaker_holds(), now);
  state_.set(Hold::rate_limited, rate_room(now).none(), now);
  execution_.set_eager(state_.state() == State::draining || state_.has(Hold::window_full) ||
                       state_.has(Hold::memory_full) || keys_.waiting() > 0 || watch_.careful());
  if (state_.state() != was) show_state();
}

std::string Lane::hold_reasons() const {
  std::string text;
  const auto add = [&](Hold reason, const char* name) {
    if (!state_.has(reason)) return;
    if (!text.empty()) text += ", ";
    text += name;
  };
  add(Hold::pool_full, watch_.careful() ? "one record at a time" : "pool full");
  add(Hold::window_full, "max_incomplete reached");
  add(Hold::memory_full, "share of lanes.memory taken");
  add(Hold::retries_full, "retry.max_waiting reached");
  add(Hold::breaker_open, "breaker open");
  add(Hold::rate_limited, "rate limit");
  add(Hold::map_full, "completion map too long for a transaction");
  add(Hold::by_hand, "by hand");
  return text;
}

void Lane::show_state() {
  stats_->state.set(state_.state());
  stats_->hold_reasons.set(state_.reasons());
}

void Lane::log_state(const char* event, const std::string& why) const {
  telemetry::info(event, {{"topic", partition_.topic},
                          {"partition", partition_.partition},
                          {"epoch", epoch_},
                          {"offset", ledger_.committable()},
                          {"why", why}});
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
  return batch;
}

void Lane::recycle(handler::RecordBatch* batch) {
  constexpr std::size_t most_spare = 8;
  bytes_ -= std::min(bytes_, batch->bytes);
  stats_->processed_bytes.add(batch->bytes -
                              std::min<std::uint64_t>(batch->bytes, batch->size * record_overhead));
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
