#include "lane/stage/stage.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "handler/content.h"
#include "lane/shared/order_key.h"
#include "lane/stage/between_stages.h"

namespace laneway::lane {
namespace {

/// Records of a line that are fed at a time, if there are several lines: so that each has its turn.
constexpr std::uint32_t fed_of_many = 32;
constexpr std::uint32_t fed_of_one = 256;
/// Lines without anything of their own are dropped when there are so many.
constexpr std::size_t many_lines = 256;

void add_attempts(PoolView& view, const pool::Pool& pool) {
  const auto durations = pool.duration().snapshot();
  view.done += std::accumulate(durations.counts.begin(), durations.counts.end(), std::uint64_t{0});
  view.work += durations.sum;
}

}  // namespace

Stage::Stage(const LaneContext& lane, const StageContext& context, const Members& members)
    : lane_(lane),
      context_(context),
      name_(context.settings.name),
      members_(members),
      parking_(lane, context, members.ledger) {
  auto& line =
      *lines_.emplace_back(std::make_unique<Line>(lane, context, nullptr, members.line, members.on_ready));
  if (context.settings.gather && lane.lanes.order != config::Order::none) order_.emplace(members.ledger);
  const Workload::Members of_works{lane,
                                   context,
                                   line,
                                   members.line.id,
                                   members.ledger,
                                   members.gate,
                                   members.stats,
                                   members.on_ready,
                                   line.attempts().parks() ? &rest_ : nullptr};
  works_.push_back(std::make_unique<Work>(of_works, Workload::Serves::all, members));
  if (context.settings.retry_workers > 0)
    works_.push_back(std::make_unique<Work>(of_works, Workload::Serves::failed, members));
  failed_ = &works_.back()->workload;
  if (!line.attempts().parks()) return;
  works_.push_back(std::make_unique<Work>(of_works, Workload::Serves::parked, members));
  parked_ = &works_.back()->workload;
}

void Stage::follow_settings() {
  for (const auto& line : lines_) line->attempts().follow_settings();
  for (const auto& work : works_) work->workload.follow_settings();
}

Line& Stage::line_of(const handler::Item& item) {
  if (context_.each == nullptr) return *lines_.front();
  const auto part = item.progress ? std::string_view(item.progress->part) : std::string_view();
  const auto text = handler::Content(item.record).selected(context_.each->by(), part);
  auto subscriber = context_.each->find(text.value_or(std::string()));
  for (const auto& line : lines_)
    if (line->subscriber() == subscriber.get()) return *line;
  return add_line(std::move(subscriber));
}

Line& Stage::add_line(std::shared_ptr<KeyedLimit> subscriber) {
  if (lines_.size() >= many_lines && rest_.empty())
    lines_.erase(
        std::remove_if(lines_.begin() + 1, lines_.end(), [](const auto& line) { return line->unused(); }),
        lines_.end());
  return *lines_.emplace_back(
      std::make_unique<Line>(lane_, context_, std::move(subscriber), members_.line, members_.on_ready));
}

/// Whether a run of records may pass the backlog of a stage with a name.
bool Stage::takes_directly(Line& line) const {
  const auto* rate = line.rate();
  if (lane_.parked_orders != nullptr && lane_.parked_orders->any()) return false;
  return context_.each == nullptr && line.backlog().empty() && workload().next() == nullptr &&
         (rate == nullptr || !rate->limited()) && line.downstream().closed() && line.blocked_by() == 0 &&
         (next_ == nullptr || !next_->crowded());
}

void Stage::take(Workload::BatchPtr batch, TimePoint now) {
  auto& line = *lines_.front();
  if (name_.empty() || takes_directly(line)) {
    batch->line = &line;
    batch->passes_on = context_.passes_on();
    return workload().add(std::move(batch));
  }
  for (auto& item : batch->items) take(std::move(item), now);
  batch->items.clear();
  workload().put_back(std::move(batch));
}

void Stage::take(handler::Item item, TimePoint now) {
  auto& line = line_of(item);
  if (gives_back_ || line.gives_back()) return end_in_drain(std::move(item), line);
  if (parking_.give_up(line, item, now)) return run_alone(std::move(item), line);
  line.wait(std::move(item), now);
  waiting_.add(1);
}

void Stage::take_gathered(handler::Item whole, TimePoint now) {
  const auto key = order_ ? order_key(lane_.lanes, origin_of(whole)) : 0;
  if (key == 0) return take(std::move(whole), now);
  std::vector<handler::Item> ready;
  order_->arrive(key, std::move(whole), ready);
  for (auto& item : ready) take(std::move(item), now);
}

void Stage::take_late(TimePoint now) {
  std::vector<handler::Item> ready;
  order_->release(ready);
  for (auto& item : ready) take(std::move(item), now);
}

bool Stage::feed(TimePoint now) {
  if (waiting_.get() == 0) return false;
  bool fed = false;
  for (std::size_t i = 0; i < lines_.size(); ++i)
    fed = feed(*lines_[(turn_ + i) % lines_.size()], now) || fed;
  turn_ = (turn_ + 1) % lines_.size();
  return fed;
}

bool Stage::feed(Line& line, TimePoint now) {
  if (line.backlog().empty() || workload().next() != nullptr || (next_ != nullptr && next_->crowded()) ||
      line.blocked_by() != 0) {
    line.leave_new(now);
    return false;
  }
  // What the breaker does not let begin stays here: only the next probe leaves the backlog.
  const auto turn = !line.downstream().closed() ? 1 : lines_.size() > 1 ? fed_of_many : fed_of_one;
  const auto most = std::min<std::uint32_t>(turn, workload().run_limit());
  const auto wanted = static_cast<std::uint32_t>(std::min<std::size_t>(line.backlog().size(), most));
  const auto begun = line.begin(wanted, now);
  if (begun == 0) return false;
  std::vector<handler::Item> items;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < begun; ++i) {
    items.push_back(pop(line));
    bytes += items.back().record.size();
  }
  workload().run(std::move(items), line);
  line.charge(begun, bytes, now);
  line.give_back();  // those of records that wait for their key
  return true;
}

bool Stage::crowded() const {
  if (workload().next() != nullptr) return true;
  // In a drain the records behind one that has failed go no further, and what fits in time goes on.
  if (!workload().drains() && workload().many_wait_for_keys()) return true;
  return context_.each == nullptr && !lines_.front()->backlog().empty();
}

HoldBits Stage::blocked(TimePoint now) const {
  auto& line = *lines_.front();
  HoldBits reasons = 0;
  const auto add = [&](Hold reason) { reasons = static_cast<HoldBits>(reasons | bit(reason)); };
  if (workload().next() != nullptr || (next_ != nullptr && next_->crowded())) add(Hold::pool_full);
  if (context_.each != nullptr) return reasons;
  reasons = static_cast<HoldBits>(reasons | line.blocked_by());
  if (!line.backlog().empty() && line.rate_waits(now)) add(Hold::rate_limited);
  return reasons;
}

void Stage::note_results(std::uint64_t bytes) {
  results_.note(bytes);
  // A slice goes to the pool whole, and others are to run beside it.
  const auto slice = std::max<std::uint64_t>(results_.records(lane_.memory.lane_bytes / 4, 1), 1);
  for (const auto& work : works_) work->workload.limit_slice(slice);
}

std::uint32_t Stage::most_to_begin(const Workload::Pending& next, std::uint64_t left) const {
  std::uint64_t in_pool = 0;
  for (const auto& work : works_) in_pool += work->workload.in_pool();
  auto most = results_.records(left, workload().pool().limits().workers);
  most -= std::min(most, in_pool);
  // The pool takes a sequential batch whole, and in careful mode a batch is the group that runs alone.
  const bool whole = next.batch->sequential || members_.gate.careful();
  if (whole && most < next.batch->size - next.begin) most = 0;
  // A record that goes on corrects the estimate, which must not stop the pool while there is memory.
  if (most == 0 && in_pool == 0 && (left >= lane_.memory.lane_bytes / 2 || none_further_on()))
    return whole ? pool::all_jobs : 1;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, pool::all_jobs));
}

/// Whether nothing in the pools after this one would end without a further record, and free its memory.
bool Stage::none_further_on() const {
  for (const auto* next = next_; next != nullptr; next = next->next_) {
    const bool retries = std::any_of(next->lines_.begin(), next->lines_.end(), [](const auto& line) {
      return line->attempts().waiting().size() > 0 && !line->asks_new();
    });
    if (retries || !next->idle()) return false;
  }
  return true;
}

void Stage::tick(TimePoint now) {
  for (const auto& work : works_) {
    work->workload.tick(now);
    work->completions.collect_overdue();
    if (context_.each != nullptr && work->workload.has_workers()) work->workload.count_at_work();
  }
  if (finishes_until_) give_back_late(*finishes_until_ - now, now);
  for (const auto& line : lines_) {
    line->attempts().tick(now);
    if (line->backlog().empty()) line->leave_new(now);
    line->note_at_work(now);
  }
  note_waiting();
}

void Stage::note_waiting() {
  std::uint64_t attempts = 0, for_those_out = 0;
  std::uint32_t out = 0;
  for (const auto& line : lines_) {
    line->note_waiting();
    attempts += line->attempts().waiting().size();
    if (line->subscriber() == nullptr || line->downstream().closed()) continue;
    const auto waiting = line->attempts().waiting().size() + line->backlog().size();
    for_those_out += waiting;
    if (waiting > 0) ++out;
  }
  waiting_attempts_.set(attempts);
  subscribers_out_.set(out);
  waiting_for_them_.set(for_those_out);
}

bool Stage::write_again(Line& line, TimePoint now) const {
  bool any = false;
  while (auto item = line.attempts().pop_unwritten(now)) {
    run_alone(std::move(*item), line);
    any = true;
  }
  return any;
}

void Stage::let_leave(const Neighbours& neighbours, TimePoint now) {
  if (members_.gate.careful() || workload().drains()) return;
  const bool full = workload().next() != nullptr || (next_ != nullptr && next_->crowded());
  for (const auto& line : lines_) {
    const auto before = line->backlog().size();
    auto leaving = parking_.take_leaving(*line, neighbours, full, room_to_leave(), now);
    waiting_.set(waiting_.get() - (before - line->backlog().size()));
    for (auto& item : leaving) run_alone(std::move(item), *line);
  }
}

TimePoint Stage::next_due(TimePoint now) {
  auto next = TimePoint::max();
  for (const auto& line : lines_) {
    if (line->backlog().empty()) continue;
    if (line->rate_waits(now))
      next = std::min(next, std::max(line->rate_ready_at(now), now + milliseconds(1)));
    if (line->subscriber() != nullptr) next = std::min(next, now + between_turns);
  }
  return next;
}

handler::Item Stage::pop(Line& line) {
  waiting_.set(waiting_.get() - 1);
  return line.pop();
}

void Stage::put_off(Line& line, Sequence sequence, TimePoint now) {
  auto items = line.take([&](const handler::Item& item) { return item.sequence == sequence; });
  waiting_.set(waiting_.get() - items.size());
  for (auto& item : items) line.attempts().put_off(std::move(item), now);
}

std::uint64_t Stage::bytes() const {
  std::uint64_t bytes = order_ ? order_->bytes() : 0;
  for (const auto& work : works_) bytes += work->workload.bytes();
  for (const auto& line : lines_) bytes += line->bytes() + line->attempts().bytes();
  return bytes;
}

PoolView Stage::view() const {
  const auto& pool = workload().pool();
  PoolView view;
  view.name = name_;
  view.pool = pool.snapshot();
  view.limits = pool.limits();
  view.waiting = waiting();
  view.waiting_attempts = waiting_attempts_.get();
  view.subscribers_out = subscribers_out_.get();
  view.waiting_for_them = waiting_for_them_.get();
  add_attempts(view, pool);
  if (failed_ == &workload()) return view;
  add_attempts(view, failed().pool());
  const auto retries = failed().pool().snapshot();
  view.retries_queued = retries.queued;
  view.retries_running = retries.in_flight;
  return view;
}

bool Stage::idle() const {
  for (const auto& work : works_)
    if (!work->workload.idle()) return false;
  return waiting_.get() == 0;
}

void Stage::begin_drain(bool finish, Duration left, std::uint64_t incoming, TimePoint now) {
  if (finish) finishes_until_ = now + left;
  for (const auto& line : lines_) {
    line->leave_new(now);
    line->leave_failed(now);
    for (const auto& work : works_) work->workload.leave_downstream(*line);
    // A drain does not wait for retries, because others wait for the drain.
    for (auto& item : line->attempts().clear()) end_in_drain(std::move(item), *line);
    if (!finish) keep_first(*line, 0);
  }
  const bool all_fit = finish && keep_fitting(left, now);
  auto& line = *lines_.front();
  const bool takes_more = all_fit && line.downstream().closed() &&
                          workload().fits(left, waiting() + incoming) &&
                          line.fitting(left, now) >= waiting() + incoming;
  // A record that came after one was given back would overtake it.
  gives_back_ = context_.each != nullptr ? !finish : !takes_more;
  for (const auto& work : works_) work->workload.drain(finish, left);
}

/// A drain may begin with a wrong estimate of the time of a record: of another lane, or from before the work
/// became slow.
void Stage::give_back_late(Duration left, TimePoint now) {
  const bool fits = keep_fitting(left, now) && workload().fits(left, waiting());
  gives_back_ = gives_back_ || (!fits && context_.each == nullptr);
  for (const auto& work : works_) work->workload.drain(true, left);
}

/// Gives back what cannot be finished in the time `left`, by the limits of each line and of the pool. Returns
/// whether everything is kept.
bool Stage::keep_fitting(Duration left, TimePoint now) {
  auto room = workload().fitting(left);
  bool all = true;
  for (const auto& line : lines_) {
    const auto backlog = line->backlog().size();
    if (backlog == 0) continue;
    const bool waits = !line->downstream().closed() || line->blocked_by() != 0;
    const auto keep = waits ? 0 : std::min<std::uint64_t>({backlog, room, line->fitting(left, now)});
    room -= keep;
    if (keep == backlog) continue;
    all = false;
    keep_first(*line, keep);
  }
  return all;
}

void Stage::keep_first(Line& line, std::uint64_t records) {
  waiting_.set(waiting_.get() - (line.backlog().size() - records));
  for (auto& item : line.give_back_beyond(records)) end_in_drain(std::move(item), line);
}

void Stage::park_rest(TimePoint now) {
  for (auto& [line, item] : rest_.take_of_begun(room_to_leave())) {
    line->attempts().park(item, now);
    run_alone(std::move(item), *line);
  }
}

void Stage::cancel() {
  gives_back_ = true;
  rest_.clear();
  for (const auto& line : lines_) clear_backlog(*line);
  for (const auto& work : works_) {
    work->workload.cancel();
    work->completions.collect_overdue();
  }
}

void Stage::close() {
  gives_back_ = true;
  for (const auto& line : lines_) line->leave_places();
  for (const auto& work : works_) {
    for (const auto& line : lines_) work->workload.leave_downstream(*line);
    work->workload.pool().close();
  }
}

void Stage::start_over() {
  for (const auto& line : lines_) {
    clear_backlog(*line);
    line->attempts().start_over();
  }
  if (order_) order_->clear();
  for (const auto& work : works_) work->workload.start_over();
  rest_.clear();
}

}  // namespace laneway::lane
