#include "lane/stage/stage.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "handler/format/selected_text.h"
#include "lane/stage/between_stages.h"

namespace laneway::lane {
namespace {

/// Records of a line that are fed at a time, if there are several lines: so that each has its turn.
constexpr std::uint32_t fed_of_many = 32;
constexpr std::uint32_t fed_of_one = 256;
/// Lines without anything of their own are dropped when there are so many.
constexpr std::size_t many_lines = 256;
/// Places of a subscriber may become free in another lane, which does not signal this one.
constexpr Duration between_turns = milliseconds(20);

std::vector<std::unique_ptr<Line>> first_line(const LaneContext& lane, const StageContext& stage,
                                              const Attempts::Members& members) {
  std::vector<std::unique_ptr<Line>> lines;
  lines.push_back(std::make_unique<Line>(lane, stage, nullptr, members));
  return lines;
}

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
      lines_(first_line(lane, context, members.line)),
      workload_(workload_members(), Workload::Serves::all),
      completions_(members.ledger, members.gate, workload_, workload_, members.onward) {
  if (context.settings.retry_workers == 0) return;
  retries_.emplace(workload_members(), Workload::Serves::failed);
  retry_completions_.emplace(members.ledger, members.gate, *retries_, *retries_, members.onward);
}

Workload::Members Stage::workload_members() const {
  return {lane_,           context_,      *lines_.front(), members_.line.id,
          members_.ledger, members_.gate, members_.stats,  members_.on_ready};
}

void Stage::follow_settings() {
  for (const auto& line : lines_) line->attempts().follow_settings();
  each_workload([](Workload& workload, Completions&) { workload.follow_settings(); });
}

Line& Stage::line_of(const handler::Item& item) {
  if (context_.each == nullptr) return *lines_.front();
  const auto part = item.progress ? std::string_view(item.progress->part) : std::string_view();
  const auto text = handler::selected_text(context_.each->by(), item.record, part);
  auto subscriber = context_.each->find(text.value_or(std::string()));
  for (const auto& line : lines_)
    if (line->subscriber() == subscriber.get()) return *line;
  return add_line(std::move(subscriber));
}

Line& Stage::add_line(std::shared_ptr<Subscriber> subscriber) {
  if (lines_.size() >= many_lines)
    lines_.erase(
        std::remove_if(lines_.begin() + 1, lines_.end(), [](const auto& line) { return line->unused(); }),
        lines_.end());
  return *lines_.emplace_back(std::make_unique<Line>(lane_, context_, std::move(subscriber), members_.line));
}

/// Whether a run of records may pass the backlog.
bool Stage::takes_directly(Line& line) const {
  if (!named()) return true;
  const auto* rate = line.rate();
  return context_.each == nullptr && line.backlog().empty() && workload_.next() == nullptr &&
         (rate == nullptr || !rate->limited()) && line.downstream().closed() && line.blocked_by() == 0 &&
         (next_ == nullptr || !next_->crowded());
}

void Stage::take(Workload::BatchPtr batch, TimePoint now) {
  auto& line = *lines_.front();
  if (takes_directly(line)) {
    batch->line = &line;
    batch->passes_on = context_.passes_on();
    return workload_.add(std::move(batch));
  }
  for (auto& item : batch->items) take(std::move(item), now);
  batch->items.clear();
  workload_.put_back(std::move(batch));
}

void Stage::take(handler::Item item, TimePoint now) {
  if (gives_back_) return;  // the next owner of the partition gets the record
  auto& line = line_of(item);
  line.wait(std::move(item), now);
  publish();
}

bool Stage::feed(TimePoint now) {
  if (waiting_.get() == 0) return false;
  bool fed = false;
  for (std::size_t i = 0; i < lines_.size(); ++i)
    fed = feed(*lines_[(turn_ + i) % lines_.size()], now) || fed;
  turn_ = (turn_ + 1) % lines_.size();
  if (fed) publish();
  return fed;
}

bool Stage::feed(Line& line, TimePoint now) {
  if (line.backlog().empty() || workload_.next() != nullptr) return false;
  if ((next_ != nullptr && next_->crowded()) || line.blocked_by() != 0) return false;
  const auto most = std::min(lines_.size() > 1 ? fed_of_many : fed_of_one, workload_.run_limit());
  const auto wanted = static_cast<std::uint32_t>(std::min<std::size_t>(line.backlog().size(), most));
  const auto begun = line.begin(wanted, now);
  if (begun == 0) return false;
  std::vector<handler::Item> items;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < begun; ++i) {
    items.push_back(line.pop());
    bytes += items.back().record.size();
  }
  line.charge(begun, bytes, now);
  workload_.run(std::move(items), line);
  return true;
}

bool Stage::crowded() const {
  if (workload_.next() != nullptr) return true;
  // In a drain the records behind one that has failed go no further, and what fits in time goes on.
  if (!completions_.drains() && workload_.many_wait_for_keys()) return true;
  return context_.each == nullptr && !lines_.front()->backlog().empty();
}

HoldBits Stage::blocked(TimePoint now) const {
  auto& line = *lines_.front();
  HoldBits reasons = 0;
  const auto add = [&](Hold reason) { reasons = static_cast<HoldBits>(reasons | bit(reason)); };
  if (workload_.next() != nullptr || (next_ != nullptr && next_->crowded())) add(Hold::pool_full);
  if (context_.each != nullptr) return reasons;
  reasons = static_cast<HoldBits>(reasons | line.blocked_by());
  if (!line.backlog().empty() && line.rate_waits(now)) add(Hold::rate_limited);
  return reasons;
}

void Stage::note_results(std::uint64_t bytes) {
  results_.note(bytes);
  // A slice goes to the pool whole, and others are to run beside it.
  const auto slice = std::max<std::uint64_t>(results_.records(lane_.memory.lane_bytes / 4, 1), 1);
  each_workload([&](Workload& workload, Completions&) { workload.limit_slice(slice); });
}

std::uint32_t Stage::most_to_begin(const Workload::Pending& next, std::uint64_t left) {
  const auto in_pool = workload_.in_pool() + (retries_ ? retries_->in_pool() : 0);
  auto most = results_.records(left, workload_.pool().limits().workers);
  most -= std::min(most, in_pool);
  // The pool takes a sequential batch whole, and in careful mode a batch is the group that runs alone.
  const bool whole = next.batch->sequential || members_.gate.careful();
  if (whole && most < next.batch->size - next.begin) most = 0;
  // A record that goes on corrects the estimate, which must not stop the pool while there is memory.
  if (most == 0 && in_pool == 0 && (left >= lane_.memory.lane_bytes / 2 || none_further_on()))
    return whole ? pool::all_jobs : 1;
  waits_for_memory_ = waits_for_memory_ || most == 0;
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

void Stage::collect(TimePoint now) {
  each_workload([&](Workload&, Completions& completions) { completions.collect(now); });
}

void Stage::tick(TimePoint now) {
  each_workload([&](Workload& workload, Completions& completions) {
    workload.tick(now);
    completions.collect_overdue();
  });
  if (finishes_until_) give_back_late(*finishes_until_ - now);
  for (const auto& line : lines_) give_up_waiting(*line, now);
  publish();
}

/// A record that its subscriber has not taken for too long must not hold back those of the others.
void Stage::give_up_waiting(Line& line, TimePoint now) {
  const auto longest = context_.settings.each.longest_wait;
  if (line.subscriber() == nullptr || longest == Duration::zero() || lane_.forward == nullptr) return;
  const auto give_up = [&](handler::Item item) {
    line.attempts().give_up_unbegun(item, line.downstream().name());
    restore_whole(item);
    failed().run_alone(std::move(item), line);
  };
  while (!line.backlog().empty() && now - line.backlog().front().progress->arrived >= longest)
    give_up(line.pop());
  const auto out_since = line.downstream().closed() ? std::nullopt : line.downstream().report(now).out_since;
  if (!out_since || now - *out_since < longest) return;
  while (auto item = line.attempts().take_work_since(now - longest)) give_up(std::move(*item));
}

TimePoint Stage::next_due(TimePoint now) {
  auto next = TimePoint::max();
  if (waiting_.get() == 0) return next;
  for (const auto& line : lines_) {
    if (line->backlog().empty()) continue;
    if (line->rate_waits(now))
      next = std::min(next, std::max(line->rate_ready_at(now), now + milliseconds(1)));
    if (line->subscriber() != nullptr) next = std::min(next, now + between_turns);
  }
  return next;
}

/// The results of a stage go on, and a subscriber's places become free, when the loop learns of them.
void Stage::set_eager(bool eager) {
  const bool always = context_.passes_on() || context_.each != nullptr || waiting_.get() > 0;
  each_workload([&](Workload& workload, Completions&) { workload.set_eager(eager || always); });
}

std::uint64_t Stage::take_completed() {
  std::uint64_t completed = 0;
  each_workload([&](Workload&, Completions& completions) { completed += completions.take_completed(); });
  return completed;
}

void Stage::publish() {
  std::uint64_t waiting = 0;
  for (const auto& line : lines_) waiting += line->backlog().size();
  waiting_.set(waiting);
}

std::uint64_t Stage::bytes() const {
  auto bytes = workload_.bytes() + (retries_ ? retries_->bytes() : 0);
  for (const auto& line : lines_) bytes += line->bytes() + line->attempts().bytes();
  return bytes;
}

Duration Stage::time_left() const {
  const auto records = workload_.records() + waiting();
  const auto workers = std::max(workload_.pool().limits().workers, 1U);
  return workload_.service_time() * static_cast<std::int64_t>(records / workers);
}

PoolView Stage::view() const {
  const auto& pool = workload_.pool();
  PoolView view;
  view.name = name_;
  view.pool = pool.snapshot();
  view.limits = pool.limits();
  view.waiting = waiting();
  add_attempts(view, pool);
  if (const auto* retries = retry_pool()) {
    const auto snapshot = retries->snapshot();
    view.retries_queued = snapshot.queued;
    view.retries_running = snapshot.in_flight;
    add_attempts(view, *retries);
  }
  return view;
}

bool Stage::idle() const {
  return workload_.idle() && (!retries_ || retries_->idle()) && waiting_.get() == 0;
}

void Stage::begin_drain(bool finish, Duration left, std::uint64_t incoming, TimePoint now) {
  if (finish) finishes_until_ = now + left;
  bool takes_more = finish;
  for (const auto& line : lines_) {
    const bool waits = !line->downstream().closed() || line->blocked_by() != 0 || line->rate_waits(now);
    line->leave_rate(now);
    each_workload([&](Workload& workload, Completions&) { workload.leave_downstream(*line); });
    line->attempts().clear();  // a drain does not wait for retries, because others wait for the drain
    const auto backlog = line->backlog().size();
    const bool finishes = finish && !waits && workload_.fits(left, backlog);
    if (!finishes) line->clear_backlog();
    takes_more = takes_more && finishes && workload_.fits(left, backlog + incoming);
  }
  // A record that came after one was given back would overtake it.
  gives_back_ = context_.each != nullptr ? !finish : !takes_more;
  publish();
  each_workload([&](Workload& workload, Completions& completions) {
    completions.drain();
    workload.drain(finish, left);
  });
}

/// A drain may begin with a wrong estimate of the time of a record: of another lane, or from before the work
/// became slow.
void Stage::give_back_late(Duration left) {
  bool fits = true;
  each_workload([&](Workload& workload, Completions&) { fits = fits && workload.fits(left, waiting()); });
  if (fits) return;
  for (const auto& line : lines_) line->clear_backlog();
  publish();
  gives_back_ = gives_back_ || context_.each == nullptr;
  each_workload([&](Workload& workload, Completions&) { workload.drain(true, left); });
}

bool Stage::drained() const {
  return waiting_.get() == 0 && workload_.drained() && (!retries_ || retries_->drained());
}

void Stage::cancel() {
  gives_back_ = true;
  for (const auto& line : lines_) line->clear_backlog();
  publish();
  each_workload([](Workload& workload, Completions& completions) {
    completions.cancel();
    workload.cancel();
    completions.collect_overdue();
  });
}

void Stage::close() {
  gives_back_ = true;
  each_workload([&](Workload& workload, Completions&) {
    for (const auto& line : lines_) workload.leave_downstream(*line);
    workload.close();
  });
}

void Stage::start_over() {
  for (const auto& line : lines_) {
    line->clear_backlog();
    line->attempts().start_over();
  }
  publish();
  each_workload([](Workload& workload, Completions&) { workload.start_over(); });
}

void Stage::abandon() {
  each_workload([](Workload& workload, Completions&) { workload.abandon(); });
}

std::uint64_t Stage::abandoned() const {
  return workload_.abandoned() + (retries_ ? retries_->abandoned() : 0);
}

bool Stage::join(Deadline deadline) {
  bool joined = true;
  each_workload([&](Workload& workload, Completions&) { joined = workload.join(deadline) && joined; });
  return joined;
}

}  // namespace laneway::lane
