#include "lane/stage/line.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "handler/gathering.h"
#include "lane/batch/work_batch.h"

namespace laneway::lane {

Line::Line(const LaneContext& lane, const StageContext& stage, std::shared_ptr<KeyedLimit> subscriber,
           const Attempts::Members& members, const std::function<void()>& on_place)
    : lane_(lane),
      stage_(stage),
      subscriber_(std::move(subscriber)),
      attempts_(lane, downstream(), !subscriber_ && stage.adaptive != nullptr, members),
      new_{{on_place}},
      failed_{{on_place}} {
  if (rate() == lane.rate) return;
  new_.rate.emplace(rate());
  failed_.rate.emplace(rate());
}

Line::~Line() {
  leave_places();
  if (subscriber_) subscriber_->note_waiting(noted_, {});
}

void Line::leave_places() {
  if (!subscriber_ || !std::exchange(uses_places_, false)) return;
  for (const auto* asker : {&new_, &failed_}) subscriber_->places.leave(asker->place);
  subscriber_->places.end(std::exchange(running_, 0));
  subscriber_->note_at_work(std::exchange(at_work_, {}), {});
}

void Line::note_waiting() {
  if (!subscriber_) return;
  const KeyedLimit::Waiting waiting{backlog_.size(), attempts_.waiting().size()};
  subscriber_->note_waiting(std::exchange(noted_, waiting), waiting);
}

std::optional<TimePoint> Line::out_since(TimePoint now) {
  if (downstream().closed())
    out_since_.reset();
  else if (!out_since_)  // other lanes may have seen the outage before
    out_since_ = std::min(downstream().out_since().value_or(now), now);
  return out_since_;
}

void Line::note_worked(TimePoint now) {
  worked_at_ = now;
  if (stage_.each != nullptr) stage_.each->note_worked(now);
}

void Line::note_failed(bool local, TimePoint now) {
  if (subscriber_) stage_.each->note_failed(*subscriber_, local, now);
}

/// All lanes of the process share the places: those of this lane may wait for the workers of another one.
void Line::note_at_work(TimePoint now) {
  constexpr std::chrono::duration<double> lately = seconds(5);
  const auto running = std::exchange(counted_, 0);
  if (!subscriber_) return;
  const KeyedLimit::AtWork at_work{running_ - std::min(running, running_), running};
  subscriber_->note_at_work(std::exchange(at_work_, at_work), at_work);
  const auto before = std::exchange(looked_at_, now);
  if (backlog_.empty() && downstream().closed()) {
    looked_at_ = {};
    kept_since_ = now;
    return;
  }
  const auto all = subscriber_->at_work();
  const bool by_places = new_.waits_for_place && all.queued <= all.running;
  const bool kept = !downstream().closed() || rate_waits(now) || retries_full_ || by_places;
  const auto weight = before == TimePoint{} ? 1.0 : std::min(1.0, (now - before) / lately);
  kept_share_ += ((kept ? 1.0 : 0.0) - kept_share_) * weight;
  if (!keeps_back())
    kept_since_ = now;
  else if (downstream().closed())
    subscriber_->note_kept(now);
}

HoldBits Line::blocked_by() {
  HoldBits reasons = 0;
  const auto waiting = attempts_.waiting().size();
  const auto most = lane_.retry.max_waiting;
  const bool full = waiting >= (retries_full_ ? most - most / 4 : most);
  retries_full_ = full && !asks_new();
  if (retries_full_) reasons = bit(Hold::retries_full);
  if (breaker_holds()) reasons = static_cast<HoldBits>(reasons | bit(Hold::breaker_open));
  return reasons;
}

std::uint32_t Line::begin(Asker& asker, std::uint32_t wanted, TimePoint now) {
  asker.asks = true;
  asker.waits_for_place = false;
  if (asker.rate) {
    const auto room = asker.rate->room(now);
    if (room.none()) {
      if (subscriber_) subscriber_->places.leave(asker.place);
      return 0;
    }
    wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, room.records));
  }
  if (!subscriber_) return wanted;
  uses_places_ = true;
  // What was reserved and not used is there still.
  const auto begun =
      wanted <= reserved_ ? 0 : subscriber_->places.begin(asker.place, wanted - reserved_, now);
  reserved_ += begun;
  running_ += begun;
  asker.waits_for_place = reserved_ < wanted;
  return std::min(wanted, reserved_);
}

void Line::give_back() {
  if (reserved_ == 0) return;
  subscriber_->places.end(reserved_);
  running_ -= std::exchange(reserved_, 0);
}

void Line::leave(Asker& asker, TimePoint now) {
  give_back();
  if (!std::exchange(asker.asks, false)) return;
  asker.waits_for_place = false;
  if (asker.rate) asker.rate->leave(now);
  if (subscriber_) subscriber_->places.leave(asker.place);
}

void Line::charge(std::uint32_t records, std::uint64_t bytes, TimePoint now) {
  if (new_.rate) new_.rate->charge(records, bytes, now);
  if (backlog_.empty()) leave(new_, now);
}

void Line::charge_failed(std::uint64_t bytes, TimePoint now) {
  if (failed_.rate) failed_.rate->charge_failed(bytes, now);
}

/// Records that come back to the pool, and those on their way to a topic, take a place as well.
void Line::entered(std::uint32_t records) {
  if (!subscriber_) return;
  const auto reserved = std::min(records, reserved_);
  reserved_ -= reserved;
  uses_places_ = true;
  if (records > reserved) subscriber_->places.take(records - reserved);
  running_ += records - reserved;
}

void Line::ended(std::uint32_t records) {
  if (!subscriber_ || !uses_places_) return;
  subscriber_->places.end(records);
  running_ -= records;
}

void Line::took_failed() {
  if (new_.rate) new_.rate->took_failed();
}

std::optional<TimePoint> Line::next_attempt(TimePoint now) {
  const auto due = attempts_.next_due();
  if (!due || *due > now) return due;
  if (failed_.waits_for_place) return now + between_turns;
  if (!downstream().closed()) return now + milliseconds(50);  // another record is the probe
  return failed_.rate && failed_.rate->waits(now) ? std::max(*due, failed_.rate->ready_at(now)) : due;
}

void Line::count(handler::Item& item) {
  bytes_ += memory_of(item);
  if (!item.progress || !item.progress->gathering) return;
  const auto& gathering = item.progress->gathering;
  const auto* before = backlog_.empty() ? nullptr : backlog_.back().progress.get();
  item.progress->keeps_whole = before == nullptr || before->gathering != gathering;
  if (item.progress->keeps_whole) whole_bytes_ += gathering->whole_bytes();
}

void Line::count_out(const handler::Item& item) {
  bytes_ -= memory_of(item);
  if (item.progress && item.progress->gathering && item.progress->keeps_whole)
    whole_bytes_ -= item.progress->gathering->whole_bytes();
}

void Line::wait(handler::Item item, TimePoint now) {
  constexpr std::size_t short_wait = 256;  // records; a longer wait must not pin the fetch buffer
  if (backlog_.size() >= short_wait) item.record.detach();
  count(item);
  item.arrived = now;
  backlog_.push_back(std::move(item));
}

handler::Item Line::pop(std::size_t place) {
  const auto first = backlog_.begin() + static_cast<std::ptrdiff_t>(place);
  auto item = std::move(*first);
  backlog_.erase(first);
  count_out(item);
  return item;
}

std::vector<handler::Item> Line::take(const std::function<bool(const handler::Item&)>& chosen) {
  const auto first = std::stable_partition(backlog_.begin(), backlog_.end(), std::not_fn(chosen));
  std::vector<handler::Item> taken(std::make_move_iterator(first), std::make_move_iterator(backlog_.end()));
  backlog_.erase(first, backlog_.end());
  for (const auto& item : taken) count_out(item);
  return taken;
}

/// Other lanes may use the same limits: a drain asks again and again, with less time left.
std::uint64_t Line::fitting(Duration left, TimePoint now) const {
  if (left <= Duration::zero()) return 0;
  const auto by_rate = new_.rate ? rate()->most_within(left * 4 / 5, now) : UINT64_MAX;
  if (!subscriber_) return by_rate;
  const auto call = downstream().service_time();
  const auto in_a_row = call > Duration::zero() ? static_cast<std::uint64_t>(left * 4 / 5 / call) : 0;
  const auto most = subscriber_->places.most();
  if (most == 0) return in_a_row > 0 ? by_rate : 0;
  const auto in_time = in_a_row * most;
  return std::min(by_rate, in_time - std::min<std::uint64_t>(in_time, subscriber_->places.running()));
}

std::vector<handler::Item> Line::give_back_beyond(std::uint64_t keep) {
  gives_back_ = true;
  std::vector<handler::Item> given_back;
  for (; backlog_.size() > keep; backlog_.pop_back()) {
    count_out(backlog_.back());
    given_back.push_back(std::move(backlog_.back()));
  }
  return given_back;
}

/// The subscribers of a pool take very different times, so the pool's average is no estimate for one of them.
void Line::note_call(Duration took) const {
  constexpr int lately = 8;  // calls that the average is over
  if (!subscriber_) return;
  const auto before = downstream().service_time();
  downstream().note_service_time(before == Duration::zero() ? took : before + (took - before) / lately);
}

void Line::clear_backlog() {
  backlog_.clear();
  bytes_ = whole_bytes_ = 0;
}

}  // namespace laneway::lane
