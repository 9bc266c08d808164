#include "lane/stage/stages.h"

#include <algorithm>
#include <utility>

#include "lane/shared/order_key.h"
#include "lane/stage/between_stages.h"
#include "pool/help.h"

namespace laneway::lane {

Stages::Stages(const Members& members, const std::function<void()>& on_ready)
    : lane_(members),
      entries_(members.context.router == nullptr ? std::vector<std::size_t>{0}
                                                 : members.context.router->entries()),
      places_(members.context.stages.size()) {
  const auto& stages = members.context.stages;
  const Stage::Members parts{{members.id, members.ledger, members.oldest, members.retry_step},
                             members.ledger,
                             members.gate,
                             members.stats,
                             *this,
                             on_ready};
  for (const auto& stage : stages) all_.push_back(std::make_unique<Stage>(members.context, stage, parts));
  for (std::size_t i = 0; i < all_.size(); ++i) {
    for (auto then = stages[i].then; then >= 0; then = stages[static_cast<std::size_t>(then)].then)
      places_[i].after.push_back(static_cast<std::size_t>(then));
    if (stages[i].passes_on()) all_[i]->set_next(all_[places_[i].after.front()].get());
    if (stages[i].settings.gather && all_[i]->order() != nullptr) in_order_.push_back(all_[i].get());
    for (const auto& work : all_[i]->works()) works_.push_back(work.get());
    if (!stages[i].settings.helps.empty()) help_others(i);
  }
  for (std::size_t i = 0; i < all_.size(); ++i) places_[i].beside = stages_beside(stages, i);
}

Stages::~Stages() {
  close();
  while (!join(Deadline::in(seconds(60)))) {
  }
}

/// Idle workers of the stage run the records of those that it helps.
void Stages::help_others(std::size_t stage) {
  const auto& stages = lane_.context.stages;
  std::vector<pool::Pool*> helped;
  for (const auto& name : stages[stage].settings.helps)
    for (std::size_t k = 0; k < all_.size(); ++k)
      if (stages[k].settings.name == name) helped.push_back(&all_[k]->workload().pool());
  if (!helped.empty()) pool::help(all_[stage]->workload().pool(), helped);
}

void Stages::follow_settings() {
  for (const auto& stage : all_) stage->follow_settings();
}

// Records come and go

void Stages::add(Workload::BatchPtr batch, TimePoint now) {
  if (entries_.size() == 1) {
    if (!in_order_.empty()) expect(*batch, entries_.front());
    return all_[entries_.front()]->take(std::move(batch), now);
  }
  for (auto& item : batch->items) places_[stage_of(item)].routed.push_back(std::move(item));
  batch->items.clear();
  all_.front()->workload().put_back(std::move(batch));
  for (std::size_t i = 0; i < places_.size(); ++i) {
    auto& routed = places_[i].routed;
    if (routed.empty()) continue;
    auto run = all_[i]->workload().new_batch();
    run->consecutive = false;
    for (auto& item : routed) run->add(std::move(item));
    routed.clear();
    if (!in_order_.empty()) expect(*run, i);
    all_[i]->take(std::move(run), now);
  }
}

/// New records come to the stages that gather in order, in the order of their keys.
void Stages::expect(const WorkBatch& batch, std::size_t entry) {
  for (const auto later : places_[entry].after) {
    auto* order = all_[later]->order();
    if (order == nullptr) continue;
    for (const auto& item : batch.items)
      if (const auto key = order_key(lane_.context.lanes, item.record); key != 0)
        order->expect(key, item.sequence);
  }
}

bool Stages::put_off(handler::Item& item, TimePoint now) {
  const auto left = all_.front()->lines().front()->attempts().restore(item, now);
  if (left == Duration::zero()) return false;
  auto& line = all_[stage_of(item)]->line_of(item);
  item.arrived = now + left;
  line.attempts().put_off(std::move(item), now + left);
  return true;
}

/// The place of the pool that gathers the sub-jobs which this pool's records are split into; -1 if none does.
int Stages::gatherer_after(std::size_t pool) const {
  // The results of this pool go to the next one; what those have as results may be gathered.
  const auto& after = places_[pool].after;
  for (const auto place : after)
    if (place != after.front() && lane_.context.stages[place].settings.gather) return static_cast<int>(place);
  return -1;
}

void Stages::pass_on(handler::Item done) {
  const auto next = places_[collecting_].after.front();
  if (all_[next]->gives_back())  // a drain that lets nothing more begin: the record runs again
    return all_[collecting_]->end_in_drain(std::move(done), *all_[collecting_]->lines().front());
  const auto before = passed_on();
  go_on(next, std::move(done));
  const auto after = passed_on();
  all_[collecting_]->note_results(after - std::min(before, after));
}

/// Rises by what a record becomes when it goes on.
std::uint64_t Stages::passed_on() const {
  auto bytes = passed_bytes_;
  for (const auto& place : places_) bytes += place.gathering_bytes;
  return bytes;
}

void Stages::go_on(std::size_t next, handler::Item done) {
  if (lane_.context.stages[next].settings.gather) {
    if (done.progress->gathering && done.progress->gathering->gatherer() == static_cast<int>(next))
      return end_part(std::move(done), false);
    const std::vector<handler::Gathering::Result> alone{{"0", take_results(done), false}};
    return gather(next, gathered(std::move(done), alone));
  }
  const auto gatherer = gatherer_after(collecting_);
  auto& of_whole = places_[collecting_].gathering_bytes;
  auto& of_results = gatherer < 0 ? of_whole : places_[static_cast<std::size_t>(gatherer)].gathering_bytes;
  std::vector<handler::Item> items;
  const auto event = lane::pass_on(done, gatherer, {of_whole, of_results}, items);
  if (after(RecordState::running, event).commits) {
    lane_.stats.outcomes[static_cast<std::size_t>(handler::OutcomeLabel::success)].add(1);
    return end(std::move(done));
  }
  for (auto& item : items) {
    passed_bytes_ += memory_of(item);
    all_[next]->take(std::move(item), now_);
  }
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

void Stages::gather(std::size_t pool, handler::Item whole) {
  passed_bytes_ += memory_of(whole);
  all_[pool]->take_gathered(std::move(whole), now_);
}

// A turn

void Stages::collect(TimePoint now) {
  now_ = now;
  for (collecting_ = 0; collecting_ < all_.size(); ++collecting_)
    for (const auto& work : all_[collecting_]->works()) work->completions.collect(now);
  for (auto* stage : in_order_) stage->take_late(now);
}

void Stages::submit(TimePoint now) {
  waits_for_memory_ = false;
  if (drains_)
    for (const auto& stage : all_) stage->park_rest(now);
  // From the last stage to the first: what one takes lets the one before go on.
  for (std::size_t i = all_.size(); i-- > 0;) {
    auto& stage = *all_[i];
    const auto& works = stage.works();
    for (std::size_t work = 1; work < works.size(); ++work) submit(i, *works[work], now);
    do {
      submit(i, *works.front(), now);
    } while (stage.feed(now));
  }
}

void Stages::submit(std::size_t pool, Stage::Work& work, TimePoint now) {
  auto& workload = work.workload;
  std::optional<std::uint64_t> left;
  while (const auto* next = workload.next()) {
    auto most = pool::all_jobs;
    if (next->batch->passes_on) {
      if (!left) left = left_for_results(pool);
      most = all_[pool]->most_to_begin(*next, *left);
      waits_for_memory_ = waits_for_memory_ || most == 0;
    }
    if (most == 0 || (lane_.gate.closed() && !may_begin(*next, now))) break;
    if (workload.submit_next(most)) continue;
    if (!work.rejected) lane_.stats.submissions.rejections.add(1);
    break;
  }
  work.rejected = workload.next() != nullptr;
}

/// Whether the first of these records may go to the pool now.
bool Stages::may_begin(const Workload::Pending& next, TimePoint now) {
  auto& batch = *next.batch;
  const auto entry = lane_.gate.may_begin(batch, next.begin > 0, none_at_work(), now);
  if (entry == CrashGate::Entry::condemned) {
    auto& item = batch.items.front();
    batch.line->attempts().condemn(item, lane_.gate.watch()->crashes(item.offset()));
    restore_whole(item);  // the record is in its batch already
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
  for (auto* stage : in_order_) stage->take_late(now);
  for (std::size_t i = 0; i < all_.size(); ++i) let_leave(i, now);
}

void Stages::let_leave(std::size_t stage, TimePoint now) {
  const auto& beside = places_[stage].beside;
  if (beside.empty()) return;
  Neighbours neighbours;
  for (const auto i : beside)
    for (const auto& line : all_[i]->lines())
      if (line->subscriber() != nullptr || lane_.context.stages[i].each == nullptr) neighbours.add(*line);
  all_[stage]->let_leave(neighbours, now);
}

TimePoint Stages::next_due(TimePoint now) {
  auto next = TimePoint::max();
  for (const auto& stage : all_)
    if (stage->waiting() > 0) next = std::min(next, stage->next_due(now));
  return next;
}

void Stages::set_eager(bool eager) {
  eager = eager || waits_for_memory_;  // which becomes free when records of another pool are finished
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto& stage = lane_.context.stages[i];
    // The results of a stage go on, and a subscriber's places become free, when the loop learns of them.
    const bool always = stage.passes_on() || stage.each != nullptr || all_[i]->waiting() > 0;
    for (const auto& work : all_[i]->works()) work->workload.set_eager(eager || always);
  }
}

// What all are together

bool Stages::due(TimePoint now) const {
  for (const auto& stage : all_)
    for (const auto& line : stage->lines())
      if (line->attempts().due(now)) return true;
  return false;
}

TimePoint Stages::next_attempt(TimePoint now) const {
  auto next = TimePoint::max();
  for (const auto& stage : all_)
    for (const auto& line : stage->lines())
      if (const auto at = line->next_attempt(now)) next = std::min(next, *at);
  return next;
}

bool Stages::keeps_pace() const {
  for (const auto& stage : all_)
    for (const auto& line : stage->lines())
      if (line->rate() != nullptr && line->rate()->keeps_pace()) return true;
  return false;
}

std::uint64_t Stages::waiting_attempts() const {
  std::uint64_t waiting = 0;
  for (const auto& stage : all_)
    for (const auto& line : stage->lines()) waiting += line->attempts().waiting().size();
  return waiting;
}

std::uint64_t Stages::bytes() const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) bytes += all_[i]->bytes() + places_[i].gathering_bytes;
  return bytes;
}

/// The lane's share of the memory, minus what the results of this stage already use.
std::uint64_t Stages::left_for_results(std::size_t pool) const {
  const auto share = lane_.context.memory.lane_bytes;
  auto used = places_[pool].gathering_bytes;
  for (const auto later : places_[pool].after) used += all_[later]->bytes() + places_[later].gathering_bytes;
  return share - std::min(share, used);
}

std::optional<Duration> Stages::time_left() const {
  std::optional<Duration> longest;
  for (const auto& stage : all_) {
    const auto& workload = stage->workload();
    const auto service = workload.service_time();
    if (service == Duration::zero()) continue;
    const auto records = workload.records() + stage->waiting();
    const auto workers = std::max(workload.pool().limits().workers, 1U);
    longest = std::max(longest, std::optional(service * static_cast<std::int64_t>(records / workers)));
  }
  return longest;
}

bool Stages::idle() const {
  for (const auto& stage : all_)
    if (!stage->idle()) return false;
  for (auto* stage : in_order_)
    if (!stage->order()->empty()) return false;
  return true;
}

bool Stages::none_at_work() const {
  for (const auto* work : works_)
    if (!work->workload.none_at_work()) return false;
  return true;
}

std::vector<PoolView> Stages::views() const {
  std::vector<PoolView> views;
  for (const auto& stage : all_)
    if (stage->named()) views.push_back(stage->view());
  return views;
}

// The end

void Stages::begin_drain(bool finish, Duration left, TimePoint now) {
  drains_ = true;
  std::vector<std::uint64_t> incoming(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (!places_[i].after.empty())
      incoming[places_[i].after.front()] += incoming[i] + all_[i]->workload().records() + all_[i]->waiting();
  // From the last stage to the first: a stage finishes nothing that the next one gives back.
  for (std::size_t i = all_.size(); i-- > 0;) {
    const bool goes_on = places_[i].after.empty() || !all_[places_[i].after.front()]->gives_back();
    all_[i]->begin_drain(finish && goes_on, left, incoming[i], now);
  }
}

bool Stages::drained() const {
  for (const auto& stage : all_)
    if (stage->waiting() > 0) return false;
  for (const auto* work : works_)
    if (!work->workload.drained()) return false;
  return true;
}

void Stages::cancel() {
  for (collecting_ = 0; collecting_ < all_.size(); ++collecting_) all_[collecting_]->cancel();
}

void Stages::close() {
  for (const auto& stage : all_) stage->close();
}

void Stages::start_over() {
  for (const auto& stage : all_) stage->start_over();
}

std::uint64_t Stages::abandon(bool log) {
  std::uint64_t abandoned = 0;
  for (auto* work : works_) abandoned += work->workload.abandon(log);
  return abandoned;
}

bool Stages::join(Deadline deadline) {
  bool joined = true;
  for (auto* work : works_) joined = work->workload.join(deadline) && joined;
  return joined;
}

}  // namespace laneway::lane
