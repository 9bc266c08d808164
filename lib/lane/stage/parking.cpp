#include "lane/stage/parking.h"

#include <algorithm>

#include "lane/stage/between_stages.h"

namespace laneway::lane {
namespace {

/// With its headers, a larger record may be more than the brokers take by default (1 MiB).
constexpr std::size_t largest_parked = 900'000;

bool parked_before(const handler::Item& item) { return item.failures && item.failures->waiting_since_ms > 0; }

}  // namespace

void Neighbours::Latest::add(const Line& line) {
  if (line.worked_at() == TimePoint{}) return;
  const auto later = [&](const Line* than) {
    return than == nullptr || line.worked_at() > than->worked_at();
  };
  if (later(lines[0]))
    lines = {&line, lines[0]};
  else if (later(lines[1]))
    lines[1] = &line;
}

TimePoint Neighbours::Latest::without(const Line& line) const {
  const auto* latest = lines[0] == &line ? lines[1] : lines[0];
  return latest == nullptr ? TimePoint{} : latest->worked_at();
}

void Neighbours::add(const Line& line) {
  all_.add(line);
  if (line.backlog().empty())
    idle_.add(line);
  else
    ++with_backlog_;
}

Neighbours::Others Neighbours::without(const Line& line) const {
  return {all_.without(line), idle_.without(line)};
}

std::vector<handler::Item> Parking::take_leaving(Line& line, const Neighbours& neighbours, bool pool_waits,
                                                 TimePoint now) const {
  std::vector<handler::Item> leaving;
  const auto out_since = line.out_since(now);
  if (!out_since && (line.backlog().empty() || !(pool_waits || line.at_limit(now)))) return leaving;
  auto& attempts = line.attempts();
  // Half of the lane's room is for the lines that have to wait.
  const auto lines = 2 * std::max<std::uint64_t>(neighbours.with_backlog(), 1);
  const Situation at{.out = out_since.has_value(),
                     .out_for_long = out_since && now - *out_since >= lane_.lanes.park_after &&
                                     attempts.waiting().size() > 0,
                     .others = neighbours.without(line),
                     .share_records = lane_.lanes.max_incomplete / lines,
                     .share_bytes = lane_.memory.lane_bytes / lines,
                     .now = now};
  const auto take = [&](handler::Item item, bool ends) {
    ends ? attempts.give_up_unbegun(item) : attempts.park(item, now);
    leaving.push_back(std::move(item));
  };
  while (!line.backlog().empty()) {
    const auto& next = line.backlog().front();
    const bool ends = this->ends(next, at);
    if (!ends && !leaves(line, next, true, at)) break;
    take(line.pop(), ends);
  }
  if (!at.out) return leaving;
  while (auto item = attempts.take_waiting([&](const auto& waiting) { return ends(waiting, at); }))
    take(std::move(*item), true);
  while (auto item =
             attempts.take_waiting([&](const auto& waiting) { return leaves(line, waiting, false, at); }))
    take(std::move(*item), false);
  return leaving;
}

bool Parking::ends(const handler::Item& item, const Situation& at) const {
  if (stage_.each == nullptr || lane_.forward == nullptr || item.arrived > at.now) return false;
  const auto longest = stage_.settings.each.longest_wait;
  if (longest == Duration::zero()) return false;
  auto age = at.now - item.arrived;
  if (parked_before(item))
    age = std::max<Duration>(age, milliseconds(wall_clock_ms() - item.failures->waiting_since_ms));
  // Another subscriber has worked since: not everything is out.
  return age >= longest && stage_.each->worked_at() >= at.now - age;
}

bool Parking::leaves(const Line& line, const handler::Item& item, bool in_backlog,
                     const Situation& at) const {
  if (!line.attempts().parks() || item.arrived > at.now) return false;
  if (item.failures && item.failures->undecided) return false;
  const bool others_work = at.out ? parked_before(item) || at.others.worked >= item.arrived
                                  : at.others.worked_and_idle >= item.arrived;
  if (!others_work || origin_of(item).size() > largest_parked) return false;
  if (at.now - item.arrived >= lane_.lanes.park_after) return true;
  if (ledger_.appended() - item.sequence > lane_.lanes.max_incomplete / 2) return true;
  return in_backlog &&
         (at.out_for_long || line.backlog().size() > at.share_records || line.bytes() > at.share_bytes);
}

bool Parking::parks_at_end(const handler::Item& item) {
  return item.route() == handler::Route::work && item.progress && item.progress->gathering &&
         item.progress->gathering->any_ended() && origin_of(item).size() <= largest_parked;
}

}  // namespace laneway::lane
