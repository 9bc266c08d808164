#include "lane/stage/stages.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lane/shared/order_key.h"
#include "lane/stage/between_stages.h"

namespace laneway::lane {
namespace {

std::vector<std::size_t> entries_of(const LaneContext& context) {
  return context.router == nullptr ? std::vector<std::size_t>{0} : context.router->entries();
}

std::vector<std::vector<std::size_t>> stages_after(const LaneContext& context) {
  std::vector<std::vector<std::size_t>> after;
  for (const auto& stage : context.stages) {
    auto& places = after.emplace_back();
    for (auto then = stage.then; then >= 0; then = context.stages[places.back()].then)
      places.push_back(static_cast<std::size_t>(then));
  }
  return after;
}

}  // namespace

Stages::Stages(const Members& members, const std::function<void()>& on_ready)
    : lane_(members), entries_(entries_of(members.context)), after_(stages_after(members.context)) {
  const auto& context = members.context;
  const Stage::Members parts{{members.id, members.ledger, members.oldest, members.retry_step},
                             members.ledger,
                             members.gate,
                             members.stats,
                             *this,
                             on_ready};
  for (const auto& stage : context.stages) all_.push_back(std::make_unique<Stage>(context, stage, parts));
  routed_.resize(all_.size());
  gather_orders_.resize(all_.size());
  gathering_bytes_.resize(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (then(i) >= 0) all_[i]->set_next(all_[static_cast<std::size_t>(then(i))].get());
    if (context.stages[i].settings.gather && ordered())
      gather_orders_[i] = std::make_unique<GatherOrder>(members.ledger);
  }
  help_each_other();
}

Stages::~Stages() {
  close();
  while (!join(Deadline::in(seconds(60)))) {
  }
}

/// Idle workers of a stage run the records of those that it helps.
void Stages::help_each_other() {
  const auto& stages = lane_.context.stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    std::vector<pool::Pool*> helped;
    for (const auto& name : stages[i].settings.helps)
      for (std::size_t k = 0; k < all_.size(); ++k)
        if (stages[k].settings.name == name) helped.push_back(&all_[k]->workload().own_pool());
    if (!helped.empty()) all_[i]->workload().own_pool().help(helped);
  }
}

void Stages::follow_settings() {
  for (const auto& stage : all_) stage->follow_settings();
}

// Records come and go

void Stages::add(Workload::BatchPtr batch, TimePoint now) {
  if (entries_.size() == 1) return take(entries_.front(), std::move(batch), now);
  for (auto& item : batch->items) routed_[stage_of(item)].push_back(std::move(item));
  batch->items.clear();
  put_back(std::move(batch));
  for (std::size_t i = 0; i < routed_.size(); ++i) {
    if (routed_[i].empty()) continue;
    auto run = all_[i]->workload().new_batch();
    run->consecutive = false;
    for (auto& item : routed_[i]) run->add(std::move(item));
    routed_[i].clear();
    take(i, std::move(run), now);
  }
}

void Stages::take(std::size_t entry, Workload::BatchPtr batch, TimePoint now) {
  for (const auto later : after_[entry]) {
    auto* order = gather_orders_[later].get();
    if (order == nullptr) continue;
    for (const auto& item : batch->items)
      if (const auto key = order_key(lane_.context.lanes, item.record); key != 0)
        order->expect(key, item.sequence);
  }
  all_[entry]->take(std::move(batch), now);
}

bool Stages::put_off(handler::Item& item, TimePoint now) {
  const auto left = first().lines().front()->attempts().restore(item);
  if (left == Duration::zero()) return false;
  all_[stage_of(item)]->line_of(item).attempts().put_off(std::move(item), now + left);
  return true;
}

void Stages::give_to(std::size_t pool, std::vector<handler::Item> items) {
  for (auto& item : items) all_[pool]->take(std::move(item), now_);
}

/// The place of the pool that gathers the sub-jobs which this pool's records are split into; -1 if none does.
int Stages::gatherer_after(std::size_t pool) const {
  // The results of this pool go to the next one; what those have as results may be gathered.
  for (const auto place : after_[pool])
    if (place != after_[pool].front() && lane_.context.stages[place].settings.gather)
      return static_cast<int>(place);
  return -1;
}

void Stages::pass_on(handler::Item done) {
  const auto next = static_cast<std::size_t>(then(collecting_));
  if (all_[next]->gives_back()) return;  // a drain that lets nothing more begin: the record runs again
  const auto before = passed_on();
  go_on(next, std::move(done));
  const auto after = passed_on();
  all_[collecting_]->note_results(after - std::min(before, after));
}

/// Rises by what a record becomes when it goes on.
std::uint64_t Stages::passed_on() const {
  return std::accumulate(gathering_bytes_.begin(), gathering_bytes_.end(), passed_bytes_);
}

void Stages::go_on(std::size_t next, handler::Item done) {
  if (lane_.context.stages[next].settings.gather) {
    if (done.progress->gathering && done.progress->gathering->gatherer() == static_cast<int>(next))
      return end_part(std::move(done), false);
    const std::vector<handler::Gathering::Result> alone{{"0", take_results(done), false}};
    return gather(next, gathered(std::move(done), alone));
  }
  const auto gatherer = gatherer_after(collecting_);
  auto& of_whole = gathering_bytes_[collecting_];
  auto& of_results = gatherer < 0 ? of_whole : gathering_bytes_[static_cast<std::size_t>(gatherer)];
  std::vector<handler::Item> items;
  const auto event = lane::pass_on(done, gatherer, {of_whole, of_results}, items);
  if (after(RecordState::running, event).commits) return end(std::move(done));
  for (const auto& item : items) passed_bytes_ += memory_of(item);
  give_to(next, std::move(items));
}

void Stages::end(handler::Item item) {
  if (item.progress && item.progress->gathering) return end_part(std::move(item), false);
  lane_.ledger.complete(item.sequence);
}

void Stages::end_part(handler::Item part, bool given_up) {
  const auto gathering = part.progress->gathering;
  const auto index = part.progress->index;
  if (!gathering->finish(index, {part.progress->part, take_results(part), given_up})) return;
  auto whole = gathering->take();
  const auto event = gathering->gatherer() < 0 ? RecordEvent::sub_jobs_ended : RecordEvent::gathered;
  if (after(RecordState::split, event).commits) return end(std::move(whole));
  const auto gatherer = static_cast<std::size_t>(gathering->gatherer());
  if (!all_[gatherer]->gives_back()) gather(gatherer, gathered(std::move(whole), gathering->take_results()));
}

/// Gives the pool the record, and those that have waited for this one.
void Stages::gather(std::size_t pool, handler::Item whole) {
  passed_bytes_ += memory_of(whole);
  auto* order = gather_orders_[pool].get();
  const auto key = order == nullptr ? 0 : order_key(lane_.context.lanes, origin_of(whole));
  if (key == 0) return all_[pool]->take(std::move(whole), now_);
  std::vector<handler::Item> ready;
  order->arrive(key, std::move(whole), ready);
  give_to(pool, std::move(ready));
}

/// A record may have waited for others that were complete before they came to the pool.
void Stages::gather_late() {
  for (std::size_t i = 0; i < gather_orders_.size(); ++i) {
    if (!gather_orders_[i] || gather_orders_[i]->empty()) continue;
    std::vector<handler::Item> ready;
    gather_orders_[i]->release(ready);
    give_to(i, std::move(ready));
  }
}

// A turn

void Stages::collect(TimePoint now) {
  now_ = now;
  for (collecting_ = 0; collecting_ < all_.size(); ++collecting_) all_[collecting_]->collect(now);
  gather_late();
}

void Stages::submit(TimePoint now) {
  // From the last stage to the first: what one takes lets the one before go on.
  for (std::size_t i = all_.size(); i-- > 0;) {
    auto& stage = *all_[i];
    stage.begin_turn();
    if (stage.works().size() > 1) submit(i, stage.failed(), now);
    do {
      submit(i, stage.workload(), now);
    } while (stage.feed(now));
  }
}

void Stages::submit(std::size_t pool, Workload& workload, TimePoint now) {
  std::optional<std::uint64_t> left;
  while (const auto* next = workload.next()) {
    auto most = pool::all_jobs;
    if (next->batch->passes_on) {
      if (!left) left = left_for_results(pool);
      most = all_[pool]->most_to_begin(*next, *left);
    }
    if (most == 0 || (lane_.gate.closed() && !may_begin(*next, now))) break;
    if (workload.submit_next(most)) continue;
    if (!workload.was_rejected()) lane_.stats.submissions.rejections.add(1);
    break;
  }
  workload.note_rejection();
}

/// Whether the first of these records may go to the pool now.
bool Stages::may_begin(const Workload::Pending& next, TimePoint now) {
  auto& batch = *next.batch;
  const auto entry = lane_.gate.may_begin(batch, next.begin > 0, none_at_work(), now);
  if (entry == CrashGate::Entry::condemned) {
    auto& item = batch.items.front();
    batch.line->attempts().condemn(item, lane_.gate.watch()->crashes(item.offset()));
    restore_whole(item);
    batch.size_in_bytes = item.record.size();
    batch.route = handler::Route::dead_letter;
    batch.passes_on = false;
  }
  return entry != CrashGate::Entry::later;
}

HoldBits Stages::blocked(TimePoint now) const {
  HoldBits reasons = 0;
  for (const auto entry : entries_) {
    const auto of_entry = all_[entry]->blocked(now);
    if (of_entry == 0) return 0;
    reasons = static_cast<HoldBits>(reasons | of_entry);
  }
  return reasons;
}

void Stages::tick(TimePoint now) {
  now_ = now;
  for (collecting_ = 0; collecting_ < all_.size(); ++collecting_) all_[collecting_]->tick(now);
  gather_late();
}

TimePoint Stages::next_due(TimePoint now) {
  auto next = TimePoint::max();
  for (const auto& stage : all_) next = std::min(next, stage->next_due(now));
  return next;
}

void Stages::set_eager(bool eager) {
  eager = eager || waits_for_memory();  // which becomes free when records of another pool are finished
  for (const auto& stage : all_) stage->set_eager(eager || stage->workload().keys_wait());
}

// What all are together

std::vector<Line*> Stages::lines() const {
  std::vector<Line*> lines;
  for (const auto& stage : all_)
    for (const auto& line : stage->lines()) lines.push_back(line.get());
  return lines;
}

std::optional<TimePoint> Stages::next_attempt() const {
  std::optional<TimePoint> next;
  for (const auto* line : lines())
    if (const auto due = line->attempts().next_due(); due && (!next || *due < *next)) next = due;
  return next;
}

std::vector<const WaitingRecords*> Stages::waiting() const {
  std::vector<const WaitingRecords*> waiting;
  for (const auto* line : lines()) waiting.push_back(&line->attempts().waiting());
  return waiting;
}

std::uint64_t Stages::waiting_attempts() const {
  std::uint64_t waiting = 0;
  for (const auto& stage : all_)
    for (const auto& line : stage->lines()) waiting += line->attempts().waiting().size();
  return waiting;
}

std::uint64_t Stages::bytes() const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) bytes += bytes_of(i) + gathering_bytes_[i];
  return bytes;
}

/// Of the records that wait for this pool, and are in it.
std::uint64_t Stages::bytes_of(std::size_t pool) const {
  const auto& order = gather_orders_[pool];
  return all_[pool]->bytes() + (order ? order->bytes() : 0);
}

/// The lane's share of the memory, minus what the results of this stage already use.
std::uint64_t Stages::left_for_results(std::size_t pool) const {
  const auto share = lane_.context.memory.lane_bytes;
  auto used = gathering_bytes_[pool];
  for (const auto later : after_[pool]) used += bytes_of(later) + gathering_bytes_[later];
  return share - std::min(share, used);
}

Duration Stages::time_left() const {
  Duration longest{};
  for (const auto& stage : all_) longest = std::max(longest, stage->time_left());
  return longest;
}

bool Stages::service_known() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const auto& stage) { return stage->workload().service_time() > Duration::zero(); });
}

bool Stages::idle() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& stage) { return stage->idle(); }) &&
         std::all_of(gather_orders_.begin(), gather_orders_.end(),
                     [](const auto& order) { return !order || order->empty(); });
}

bool Stages::none_at_work() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& stage) { return stage->none_at_work(); });
}

std::vector<const pool::Pool*> Stages::pools() const {
  std::vector<const pool::Pool*> pools;
  for (const auto& stage : all_)
    for (const auto& work : stage->works()) pools.push_back(&work.workload.pool());
  return pools;
}

std::vector<PoolView> Stages::views() const {
  std::vector<PoolView> views;
  for (const auto& stage : all_)
    if (stage->named()) views.push_back(stage->view());
  return views;
}

// The end

void Stages::begin_drain(bool finish, Duration left, TimePoint now) {
  std::vector<std::uint64_t> incoming(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (then(i) >= 0)
      incoming[static_cast<std::size_t>(then(i))] +=
          incoming[i] + all_[i]->workload().records() + all_[i]->waiting();
  // From the last stage to the first: a stage finishes nothing that the next one gives back.
  for (std::size_t i = all_.size(); i-- > 0;) {
    const bool goes_on = then(i) < 0 || !all_[static_cast<std::size_t>(then(i))]->gives_back();
    all_[i]->begin_drain(finish && goes_on, left, incoming[i], now);
  }
}

bool Stages::drained() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& stage) { return stage->drained(); });
}

void Stages::cancel() {
  for (collecting_ = 0; collecting_ < all_.size(); ++collecting_) all_[collecting_]->cancel();
}

void Stages::close() {
  for (const auto& stage : all_) stage->close();
}

void Stages::start_over() {
  for (const auto& stage : all_) stage->start_over();
  for (const auto& order : gather_orders_)
    if (order) order->clear();
}

std::uint64_t Stages::abandon(bool log) {
  std::uint64_t abandoned = 0;
  for (const auto& stage : all_) {
    if (log) stage->abandon();
    abandoned += stage->abandoned();
  }
  return abandoned;
}

bool Stages::join(Deadline deadline) {
  bool joined = true;
  for (const auto& stage : all_) joined = stage->join(deadline) && joined;
  return joined;
}

}  // namespace laneway::lane
