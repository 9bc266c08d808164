#include "lane/stage/workload.h"

#include <algorithm>
#include <utility>

#include "lane/shared/order_key.h"
#include "lane/stage/between_stages.h"
#include "telemetry/log.h"
#include "tracing/record_trace.h"

namespace laneway::lane {
namespace {

constexpr std::uint32_t longest_run = 256;
/// Parked records of a lane and a stage that are being written.
constexpr std::uint32_t most_written = 256;

}  // namespace

Workload::Workload(const Members& members, Serves serves)
    : line_(members.line),
      lane_(members.lane),
      stage_(members.stage),
      serves_(serves),
      id_(members.id),
      ledger_(members.ledger),
      gate_(members.gate),
      stats_(members.stats),
      rest_(members.rest),
      longest_slice_(stage_.passes_on() ? 1 : SIZE_MAX),
      execution_(lane_, stage_, id_, stats_, members.on_ready),
      pool_(std::make_unique<pool::Pool>(limits(), execution_, members.on_ready)) {
  execution_.set_pool(*pool_);
}

/// With an adaptive limit, each claim is one call.
pool::Limits Workload::limits() const {
  const auto& settings = stage_.settings;
  if (serves_ == Serves::parked)
    return {.workers = most_written, .queue = most_written, .most_per_claim = 1, .asynchronous = true};
  const auto& handler = *stage_.handler;
  const bool one = stage_.adaptive != nullptr && !handler.fills_tasks();
  return {.workers = serves_ == Serves::all ? settings.workers : std::max(settings.retry_workers, 1U),
          .queue = settings.queue,
          .most_per_claim = one ? 1 : handler.most_per_task(),
          .job_deadline = handler.timeout(),
          .asynchronous = handler.asynchronous(),
          .whole_claims = handler.fills_tasks(),
          .permits = stage_.permits,
          .longest_wait = settings.helps.empty() ? Duration::max() : settings.longest_wait};
}

std::uint32_t Workload::run_limit() const {
  const auto run = std::clamp<std::uint32_t>(stage_.settings.queue, 1, longest_run);
  return gate_.careful() ? gate_.run_limit(run, service_time()) : run;
}

Workload::BatchPtr Workload::new_batch() {
  BatchPtr batch;
  if (spare_.empty()) {
    batch = std::make_unique<WorkBatch>();
  } else {
    batch = std::move(spare_.back());
    spare_.pop_back();
  }
  batch->line = &line_;
  batch->passes_on = stage_.passes_on();
  batch->sequential = false;
  batch->turn = pool::Turn::in_order;
  batch->consecutive = true;
  batch->route = handler::Route::work;
  batch->left_early = 0;
  batch->bytes = 0;
  batch->size_in_bytes = 0;
  return batch;
}

void Workload::add(BatchPtr batch, bool admitted) {
  if (!admitted && ordered()) apply_order(*batch);
  if (batch->items.empty()) return put_back(std::move(batch));
  batch->size = static_cast<std::uint32_t>(batch->items.size());
  batch->unfinished = batch->size;
  batch->life = life_;
  if (serves_ == Serves::parked)
    batch->line->begin_leaving(batch->size);
  else if (stage_.each != nullptr)
    batch->line->entered(batch->size);
  batch->place = batches_.size();
  bytes_ += batch->bytes;
  const auto waits_longer = [&](const Pending& other) { return other.batch->turn > batch->turn; };
  pending_.insert(std::find_if(pending_.begin(), pending_.end(), waits_longer), {batch.get(), 0});
  batches_.push_back(std::move(batch));
}

bool Workload::submit_next(std::uint32_t most) {
  auto& next = pending_.front();
  const auto submitted = pool_->try_submit(*next.batch, next.begin, most);
  next.begin += submitted.taken;
  in_pool_ += submitted.taken;
  stats_.submissions.accepted.add(submitted.taken);
  if (submitted.admission == pool::Admission::accepted) {
    if (next.begin == next.batch->size) pending_.pop_front();
    return true;
  }
  // Half the queue is left as work for the workers while the next records come.
  // By the pool's own limits: room that is always there would call the loop again and again.
  const auto limits = pool_->limits();
  pool_->notify_at(std::max(limits.workers + limits.queue / 2, 1U) - (limits.queue < 2 ? 1 : 0));
  return false;
}

void Workload::collect(std::vector<handler::Finished>& into) {
  execution_.collect(into);
  if (!into.empty() && ordered()) slice_ = measured_slice();
}

/// Gives back the memory of the records, by the average of those in the batch: it must not stay taken until
/// the last record of a long batch is finished.
void Workload::finish(WorkBatch& batch, std::uint32_t count, bool in_pool) {
  constexpr std::size_t most_spare = 8;
  if (in_pool) in_pool_ -= count;
  const auto bytes = batch.bytes * count / batch.unfinished;
  batch.bytes -= bytes;
  bytes_ -= std::min(bytes_, bytes);
  if (serves_ == Serves::parked)
    batch.line->end_leaving(count);
  else if (stage_.each != nullptr)
    batch.line->ended(count);
  if ((batch.unfinished -= count) > 0) return;
  stats_.processed_bytes.add(batch.size_in_bytes);
  const auto place = batch.place;
  BatchPtr owned = std::move(batches_[place]);
  if (place + 1 != batches_.size()) {
    batches_[place] = std::move(batches_.back());
    batches_[place]->place = place;
  }
  batches_.pop_back();
  owned->items.clear();
  if (spare_.size() < most_spare) spare_.push_back(std::move(owned));
}

/// Records that only have to be written to a topic do not wait for new records; failed records and new ones
/// take turns. Otherwise a failed record would wait behind a full queue of new records, and hold back the
/// commits. In careful mode, records run in the order of their groups.
pool::Turn Workload::turn_of(handler::Route route, bool failed) const {
  if (gate_.careful()) return pool::Turn::in_order;
  if (route != handler::Route::work) return pool::Turn::first;
  return failed ? pool::Turn::alternating : pool::Turn::in_order;
}

void Workload::run_again(std::vector<handler::Item> items, Line& line, bool sequential, bool failed) {
  auto batch = new_batch();
  batch->line = &line;
  batch->sequential = sequential && items.size() > 1;
  batch->consecutive = false;
  batch->route = items.front().route();
  if (batch->route != handler::Route::work) batch->passes_on = false;
  batch->turn = turn_of(batch->route, failed);
  for (auto& item : items) batch->add(std::move(item));
  add(std::move(batch), true);
}

void Workload::run(std::vector<handler::Item> items, Line& line) {
  auto batch = new_batch();
  batch->line = &line;
  batch->consecutive = false;
  for (auto& item : items) batch->add(std::move(item));
  add(std::move(batch));
}

void Workload::run_alone(handler::Item item, Line& line) {
  item.state = handler::ItemState::unanswered;
  if (item.route() != handler::Route::work) restore_whole(item);
  std::vector<handler::Item> one;
  one.push_back(std::move(item));
  run_again(std::move(one), line, false, true);
}

void Workload::apply_order(WorkBatch& batch) {
  if (lane_.lanes.order != config::Order::partition) return apply_key_order(batch);
  for (auto& item : batch.items) item.key = 1;
  batch.sequential = true;
  if (!keys_.admit(1, std::span<handler::Item>(batch.items))) {
    bytes_ += batch.bytes;  // the records wait outside any batch; given back when they go on
    batch.items.clear();
  } else if (batch.items.size() > slice_) {
    const auto rest = std::span<handler::Item>(batch.items).subspan(slice_);
    for (const auto& item : rest) batch.discount(item);
    wait_behind_key(1, rest);
    batch.items.erase(batch.items.begin() + static_cast<std::ptrdiff_t>(slice_), batch.items.end());
  }
}

void Workload::apply_key_order(WorkBatch& batch) {
  auto kept = batch.items.begin();
  for (auto& item : batch.items) {
    item.key = order_key(lane_.lanes, item.record);
    const auto memory = memory_of(item);
    const auto size = item.record.size();
    if (item.key != 0 && !keys_.admit(item.key, item)) {
      batch.bytes -= memory;  // the record waits outside the batch
      batch.size_in_bytes -= size;
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

/// How many records of a key a worker gets at a time: as many as take a moment by the measured service time,
/// so that they are reported, given back and shared out soon, and handing them over costs little. A handler
/// that works on many records at once gets as many as it can use.
std::size_t Workload::measured_slice() const {
  constexpr Duration moment = milliseconds(4);
  const auto service = service_time();
  const std::int64_t least = stage_.handler->fills_tasks() ? stage_.handler->most_per_task() : 1;
  const std::int64_t timely = service > Duration::zero() ? moment / service : 1;
  const auto slice = std::clamp<std::int64_t>(std::max(least, timely), 1, run_limit());
  return std::min(static_cast<std::size_t>(slice), longest_slice_);
}

void Workload::release_key(std::uint64_t key) {
  std::vector<handler::Item> next;
  const auto taken = keys_.release(key, next, slice_);
  if (taken == 0) return;
  let_go(next);
  run_again(std::move(next), line_, true, false);
}

/// Puts the records in front of those that wait for their key.
void Workload::wait_behind_key(std::uint64_t key, std::span<handler::Item> items) {
  for (const auto& item : items) bytes_ += memory_of(item);
  keys_.give_back(key, items);
}

void Workload::take_back(const WorkBatch& batch, std::uint64_t key, std::vector<handler::Item> items) {
  if (gives_back_)
    for (auto& item : items) leave_rest(item, *batch.line);
  if (gives_back_ || items.empty()) return;
  if (batch.sequential)
    wait_behind_key(key, items);
  else
    run_again(std::move(items), *batch.line, false, false);
}

std::uint64_t Workload::unbegun(const pool::Snapshot& snapshot) const {
  std::uint64_t records = snapshot.queued + keys_.waiting();
  for (const auto& pending : pending_) records += pending.batch->size - pending.begin;
  return records;
}

void Workload::drain(bool finish, Duration left) {
  drains_ = true;
  if (serves_ == Serves::parked) return execution_.set_eager(true);
  if (!finish)
    give_back_unbegun();
  else if (!fits(left))
    give_back_beyond(left);
  execution_.set_eager(true);
}

/// Records of one key run one after the other, however many workers there are.
bool Workload::fits(Duration left, std::uint64_t more) const {
  if (serves_ == Serves::parked) return true;
  const auto service = estimated_service_time();
  const auto snapshot = pool_->snapshot();
  const auto unbegun = this->unbegun(snapshot) + more;
  if (service == Duration::zero()) return unbegun == 0;
  const auto of_a_key = keys_.waiting() > 0 ? keys_.longest() : 0;
  const auto in_a_row =
      std::max<std::uint64_t>((unbegun + snapshot.in_flight) / pool_->limits().workers, of_a_key) + 1;
  return service * static_cast<std::int64_t>(in_a_row) * 5 / 4 < left;
}

std::uint64_t Workload::fitting(Duration left) const {
  const auto service = estimated_service_time();
  if (service == Duration::zero() || left <= Duration::zero()) return 0;
  const auto in_time = static_cast<std::uint64_t>(left * 4 / 5 / service) * pool_->limits().workers;
  return in_time - std::min(in_time, records());
}

/// Gives back what cannot be finished in the time `left`, by the estimated service time.
void Workload::give_back_beyond(Duration left) {
  give_back_pending();
  const auto service = estimated_service_time();
  const auto workers = pool_->limits().workers;
  std::uint64_t fitting = 0;
  if (service > Duration::zero() && left > Duration::zero())
    fitting = static_cast<std::uint64_t>(left * 4 / 5 / service) * workers;
  const auto keep = static_cast<std::uint32_t>(std::min<std::uint64_t>(fitting, pool_->snapshot().queued));
  withdraw(keep);
  let_go(keys_.clear((fitting - keep) / std::max<std::uint64_t>(keys_.keys(), workers)));
}

void Workload::give_back_pending() {
  for (const auto& pending : std::exchange(pending_, {}))
    give_back(*pending.batch, pending.begin, pending.batch->size, false);
}

/// These records have not begun, and are no processed ones.
void Workload::give_back(WorkBatch& batch, std::uint32_t begin, std::uint32_t end, bool in_pool) {
  for (auto i = begin; i < end; ++i) {
    batch.size_in_bytes -= batch.items[i].record.size();
    leave_rest(batch.items[i], *batch.line);
  }
  finish(batch, end - begin, in_pool);
}

void Workload::give_back_unbegun() {
  gives_back_ = true;
  give_back_pending();
  let_go(keys_.clear());
  withdraw(0);
  pool_->want_back();
}

void Workload::withdraw(std::uint32_t keep) {
  for (const auto& range : pool_->withdraw(keep)) give_back(batch_of(range), range.begin, range.end, true);
}

void Workload::cancel() {
  drains_ = cancelled_ = true;
  execution_.set_cut_off();
  give_back_unbegun();
  pool_->cancel();
}

void Workload::start_over() {
  ++life_;
  let_go(keys_.clear());
  keys_ = {};
  give_back_pending();
}

void Workload::leave_early(const pool::Claim& claim, std::uint32_t count) {
  auto& batch = batch_of(claim.range);
  batch.left_early += count;
  finish(batch, count);
  pool_->leave_early(claim, count);
}

/// The workers own these records: only their numbers may be read.
std::uint64_t Workload::abandon(bool running) {
  if (running)
    each_at_work([this](const handler::Item& item) {
      abandon(ledger_.offset_of(item.sequence), item.attempt, nullptr);
    });
  return abandoned_;
}

void Workload::abandon(std::int64_t offset, std::uint32_t attempt, const kafka::Record* record) {
  ++abandoned_;
  telemetry::warn("abandoned", {{"topic", id_.partition.topic},
                                {"partition", id_.partition.partition},
                                {"offset", offset},
                                {"epoch", id_.epoch},
                                {"attempt", attempt},
                                tracing::TraceField(record)});
}

/// Holds follow the limit: a lane takes no more than fits its workers and its queue.
void Workload::follow_settings() {
  if (serves_ == Serves::parked) return;
  const auto most = limits().workers;
  const auto limit = stage_.adaptive == nullptr ? most : std::min(most, stage_.adaptive->limit());
  const auto now = pool_->limits();
  if (now.workers != limit || now.queue != stage_.settings.queue) pool_->resize(limit, stage_.settings.queue);
}

void Workload::tick(TimePoint now) {
  if (stage_.adaptive != nullptr) follow_settings();
  if (const auto measured = service_time(); measured > Duration::zero() && serves_ != Serves::parked)
    line_.downstream().note_service_time(measured);
  for (const auto& job : pool_->tick(now)) report_stuck(job);
}

/// The worker owns the record: only its number may be read.
void Workload::report_stuck(const pool::Range& job) const {
  const auto& batch = batch_of(job);
  if (!current(batch)) return;
  telemetry::warn("handler stuck",
                  {{"topic", id_.partition.topic},
                   {"partition", id_.partition.partition},
                   {"offset", ledger_.offset_of(batch.items[job.begin].sequence)},
                   {"epoch", id_.epoch},
                   {"handler", stage_.handler->name()},
                   {"hint", "the attempt ignores its timeout; another worker was added in its place"}});
}

}  // namespace laneway::lane
