#include "lane/stage/line.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lane/batch/work_batch.h"

namespace laneway::lane {

Line::Line(const LaneContext& lane, const StageContext& stage, std::shared_ptr<KeyedLimit> subscriber,
           const Attempts::Members& members)
    : lane_(lane),
      stage_(stage),
      subscriber_(std::move(subscriber)),
      attempts_(lane, downstream(), !subscriber_ && stage.adaptive != nullptr, members) {
  if (rate() != lane.rate) rate_.emplace(rate());
}

Line::~Line() {
  if (!subscriber_) return;
  subscriber_->end(running_);
  subscriber_->note_waiting(noted_, {});
}

void Line::note_waiting() {
  if (!subscriber_) return;
  const KeyedLimit::Waiting waiting{backlog_.size(), attempts_.waiting().size()};
  subscriber_->note_waiting(std::exchange(noted_, waiting), waiting);
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

std::uint32_t Line::begin(std::uint32_t wanted, TimePoint now) {
  if (rate_) {
    const auto room = rate_->room(now);
    if (room.none()) return 0;
    wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, room.records));
  }
  if (!subscriber_) return wanted;
  // What was reserved and not used is there still.
  const auto begun = wanted <= reserved_ ? 0 : subscriber_->begin(wanted - reserved_);
  reserved_ += begun;
  running_ += begun;
  return std::min(wanted, reserved_);
}

void Line::charge(std::uint32_t records, std::uint64_t bytes, TimePoint now) {
  if (!rate_) return;
  rate_->charge(records, bytes, now);
  if (backlog_.empty()) rate_->leave(now);
}

void Line::charge_failed(std::uint64_t bytes, TimePoint now) {
  if (rate_) rate_->charge_failed(bytes, now);
}

/// Records that come back to the pool, and those on their way to a topic, take a place as well.
void Line::entered(std::uint32_t records) {
  if (!subscriber_) return;
  const auto reserved = std::min(records, reserved_);
  reserved_ -= reserved;
  subscriber_->take(records - reserved);
  running_ += records - reserved;
}

void Line::ended(std::uint32_t records) {
  if (!subscriber_) return;
  subscriber_->end(records);
  running_ -= records;
}

void Line::took_failed() {
  if (rate_) rate_->took_failed();
}

void Line::leave_rate(TimePoint now) {
  if (rate_) rate_->leave(now);
}

void Line::wait(handler::Item item, TimePoint now) {
  constexpr std::size_t short_wait = 256;  // records; a longer wait must not pin the fetch buffer
  if (backlog_.size() >= short_wait) item.record.detach();
  bytes_ += memory_of(item);
  if (subscriber_) item.begin_progress().arrived = now;
  backlog_.push_back(std::move(item));
}

handler::Item Line::pop() {
  auto item = std::move(backlog_.front());
  backlog_.pop_front();
  bytes_ -= memory_of(item);
  return item;
}

std::vector<handler::Item> Line::take(Sequence sequence) {
  const auto stays = [&](const handler::Item& item) { return item.sequence != sequence; };
  const auto first = std::stable_partition(backlog_.begin(), backlog_.end(), stays);
  std::vector<handler::Item> taken(std::make_move_iterator(first), std::make_move_iterator(backlog_.end()));
  backlog_.erase(first, backlog_.end());
  for (const auto& item : taken) bytes_ -= memory_of(item);
  return taken;
}

void Line::clear_backlog() {
  backlog_.clear();
  bytes_ = 0;
}

}  // namespace laneway::lane
