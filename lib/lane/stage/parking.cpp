#include "lane/stage/parking.h"

#include <algorithm>
#include <iterator>

#include "lane/batch/work_batch.h"
#include "lane/stage/between_stages.h"

namespace laneway::lane {
namespace {

/// With its headers, a larger record may be more than the brokers take by default (1 MiB).
constexpr std::size_t largest_parked = 900'000;

/// Records of a subscriber that cannot keep up may fill its lane, so that those of others, which would show
/// that these could go on, come later.
constexpr Duration recently = seconds(60);

/// So long at most, a subscriber that works again takes what has waited for it, whatever its age.
constexpr Duration first_again = std::chrono::hours(1);

/// Whether nothing about the record itself keeps it in its lane.
bool can_leave(const handler::Item& item) {
  if (item.failures && (item.failures->undecided || item.failures->stays)) return false;
  return origin_of(item).size() <= largest_parked;
}

bool parked_before(const handler::Item& item) { return item.failures && item.failures->waiting_since_ms > 0; }

/// From a retry topic, where it was parked; others may be on their way there.
bool came_back(const handler::Item& item) { return item.failures && item.failures->parked_at != TimePoint{}; }

TimePoint waits_since(const handler::Item& item, TimePoint now) {
  return now - milliseconds(wall_clock_ms() - item.failures->waiting_since_ms);
}

/// Empty without subscribers.
const std::string& subscriber_of(const Line& line) {
  static const std::string none;
  return line.subscriber() == nullptr ? none : line.subscriber()->text();
}

}  // namespace

/// In any lane of the process: the records of this lane may all be of one line.
TimePoint Neighbours::anywhere(const Line& line) {
  return std::max(line.worked_at(), line.downstream().worked_at());
}

void note_parked(const LaneContext& lane, const StageContext& stage, const handler::Finished& finished,
                 TimePoint now) {
  if (lane.parked_records == nullptr || lane.retry_steps == nullptr) return;
  const auto& range = finished.claim.range;
  const auto& batch = batch_of(range);
  for (auto i = range.begin; i < range.end; ++i) {
    const auto& item = batch.items[i];
    if (item.state != handler::ItemState::done) continue;
    const auto* step = lane.retry_steps->find(*item.failures->parks_in);
    const auto waited = milliseconds(wall_clock_ms() - item.failures->waiting_since_ms);
    lane.parked_records->add(stage.settings.name, subscriber_of(*batch.line), now - waited,
                             step == nullptr ? Duration::zero() : step->delay, now);
  }
}

void Neighbours::Latest::add(const Line& line) {
  if (worked_at(line) == TimePoint{}) return;
  const auto later = [&](const Line* than) { return than == nullptr || worked_at(line) > worked_at(*than); };
  if (later(lines[0]))
    lines = {&line, lines[0]};
  else if (later(lines[1]))
    lines[1] = &line;
}

TimePoint Neighbours::Latest::without(const Line& line) const {
  const auto* latest = lines[0] == &line ? lines[1] : lines[0];
  return latest == nullptr ? TimePoint{} : worked_at(*latest);
}

void Neighbours::add(const Line& line) {
  all_.add(line);
  if (line.downstream().closed()) ++not_out_;
  if (!line.backlog().empty()) {
    ++with_backlog_;
    return;
  }
  idle_.add(line);
  idle_here_.add(line);
}

Neighbours::Others Neighbours::without(const Line& line) const {
  return {all_.without(line), idle_.without(line), idle_here_.without(line),
          not_out_ - (line.downstream().closed() ? 1U : 0U)};
}

std::vector<std::size_t> stages_beside(const std::vector<StageContext>& stages, std::size_t stage) {
  const auto leads = [&](std::size_t from, std::size_t to) {
    auto then = static_cast<int>(from);
    while (then >= 0 && then != static_cast<int>(to)) then = stages[static_cast<std::size_t>(then)].then;
    return then >= 0;
  };
  std::vector<std::size_t> beside;
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (!leads(i, stage) && !leads(stage, i)) beside.push_back(i);
  if (!beside.empty() || stages[stage].each != nullptr) beside.push_back(stage);
  return beside;
}

/// Workers open and close the breaker meanwhile, so the loop reads it once.
Parking::Kept Parking::kept(Line& line, const OutSince& out_since, bool pool_full, TimePoint now) {
  if (out_since) return Kept::by_breaker;
  if (line.backlog().empty()) return Kept::not_at_all;
  if (line.at_own_limit(now)) return Kept::by_limit;
  return pool_full || line.waits_for_workers(now) ? Kept::by_pool : Kept::not_at_all;
}

/// After which time records of the line are given up; zero: never.
Duration Parking::longest_wait(Kept kept) const {
  const bool may_end = stage_.each != nullptr && lane_.forward != nullptr && kept != Kept::by_pool;
  return may_end ? stage_.settings.each.longest_wait : Duration::zero();
}

/// Whether the line has been out, or at its limit, for so long that there is no sense in trying old records:
/// what is out for a moment is tried first, and what works again takes what has waited meanwhile.
bool Parking::old_ones_end(const Line& line, Kept kept, const OutSince& out_since, TimePoint now) const {
  const auto longest = longest_wait(kept);
  if (longest == Duration::zero()) return false;
  if (out_since) return now - *out_since >= std::min(longest, PoolOutages::proof);
  const auto since = std::max(line.downstream().back_since(), line.subscriber()->kept_since());
  return now - since >= std::min<Duration>(longest, first_again);
}

Parking::Situation Parking::situation(Line& line, const Neighbours& neighbours, Kept kept,
                                      const OutSince& out_since, TimePoint now) const {
  // Half of the lane's room is for the lines that have to wait.
  const auto lines = 2 * std::max<std::uint64_t>(neighbours.with_backlog(), 1);
  return {.kept = kept,
          .out_for_long =
              out_since && now - *out_since >= lane_.lanes.park_after && line.attempts().waiting().size() > 0,
          .longest_wait = longest_wait(kept),
          .old_ones_end = old_ones_end(line, kept, out_since, now),
          .others = others_of(line, neighbours),
          .share_records = lane_.lanes.max_incomplete / lines,
          .share_bytes = lane_.memory.lane_bytes / lines,
          .now = now};
}

std::vector<handler::Item> Parking::take_leaving(Line& line, const Neighbours& neighbours, bool pool_full,
                                                 LeavingRoom room, TimePoint now) const {
  std::vector<handler::Item> leaving;
  const auto out_since = line.out_since(now);
  const auto kept = Parking::kept(line, out_since, pool_full, now);
  if (kept == Kept::not_at_all) return leaving;
  const auto at = situation(line, neighbours, kept, out_since, now);
  auto& attempts = line.attempts();
  const auto take = [&](handler::Item item, bool ends) {
    room.take(origin_of(item).size());
    if (ends)
      attempts.give_up_unbegun(item);
    else if (!give_up(line, item, now))
      attempts.park(item, now);
    leaving.push_back(std::move(item));
  };
  std::size_t stay = 0;  // which leave the way to those behind them
  while (stay < line.backlog().size() && !room.none()) {
    const auto& next = line.backlog()[stay];
    const bool ends = this->ends(line, next, at);
    if (ends || leaves(line, next, true, at))
      take(line.pop(stay), ends);
    else if (can_leave(next))
      break;
    else
      ++stay;
  }
  const auto goes = [&](const handler::Item& item) {
    return ends(line, item, at) || leaves(line, item, false, at);
  };
  while (at.out() && !room.none()) {
    auto item = attempts.take_waiting(goes);
    if (!item) break;
    const bool ends = this->ends(line, *item, at);
    take(std::move(*item), ends);
  }
  return leaving;
}

/// By the time when the record first waited: what is on its way back to a retry topic is written after the
/// order, and was parked before.
bool Parking::is_given_up(const Line& line, const handler::Item& item, TimePoint now) const {
  return lane_.parked_orders != nullptr && lane_.parked_orders->any() && came_back(item) &&
         lane_.parked_orders->gives_up(stage_.settings.name, subscriber_of(line), waits_since(item, now));
}

bool Parking::give_up(Line& line, handler::Item& item, TimePoint now) const {
  if (!is_given_up(line, item, now)) return false;
  auto& orders = *lane_.parked_orders;
  const auto& pool = stage_.settings.name;
  const auto since = waits_since(item, now);
  const auto reason = orders.gives_up(pool, subscriber_of(line), since);
  if (!reason) return false;
  orders.note_given_up(pool, subscriber_of(line), since);
  line.attempts().give_up_ordered(item, *reason);
  return true;
}

std::vector<handler::Item> Parking::take_ordered(Line& line, TimePoint now) const {
  auto taken = line.take([&](const handler::Item& item) { return is_given_up(line, item, now); });
  auto waiting = line.attempts().take_all_waiting([&](const handler::Item& item) {
    if (!came_back(item)) return false;
    return item.arrived > now ? lane_.parked_orders->sends_on(item.failures->parked_at, now)
                              : is_given_up(line, item, now);
  });
  std::move(waiting.begin(), waiting.end(), std::back_inserter(taken));
  return taken;
}

/// While a subscriber is out, each that works is another one, also one without records in this lane.
Neighbours::Others Parking::others_of(const Line& line, const Neighbours& neighbours) const {
  auto others = neighbours.without(line);
  if (stage_.each != nullptr && !line.downstream().closed())
    others.worked = std::max(others.worked, stage_.each->worked_at());
  return others;
}

bool Parking::ends(const Line& line, const handler::Item& item, const Situation& at) const {
  if (at.longest_wait == Duration::zero() || item.arrived > at.now) return false;
  auto age = at.now - std::max(item.arrived, line.kept_since());
  // A record that comes back gets its turn first.
  if (parked_before(item) && at.old_ones_end && (at.out() || age >= lane_.lanes.park_after))
    age = std::max<Duration>(age, milliseconds(wall_clock_ms() - item.failures->waiting_since_ms));
  return age >= at.longest_wait && stage_.each->has_waited(age, at.longest_wait, at.now);
}

/// Whether others may go on while the record's line is out: they have worked since the record came or, before
/// the line stops those that come seldom, they are not known to be out.
bool Parking::others_may(const handler::Item& item, const Neighbours::Others& others, bool fills) {
  return others.worked >= item.arrived || (fills && others.not_out > 0);
}

/// Whether others could go on if the record, whose line is at a limit, left. A record that was parked has its
/// turn unless others come behind it in the retry topic: of many that are due at once, only those of a moment
/// would be done, and all others parked again for ten minutes.
bool Parking::others_could(const handler::Item& item, const Neighbours::Others& others) {
  const auto worked = parked_before(item) ? others.worked_here_and_idle : others.worked_and_idle;
  return worked != TimePoint{} && worked >= item.arrived - recently;
}

bool Parking::leaves(const Line& line, const handler::Item& item, bool in_backlog,
                     const Situation& at) const {
  if (!line.attempts().parks() || item.arrived > at.now || !can_leave(item)) return false;
  // In a retry topic others wait for their time behind a record that is due, which is to be tried first: the
  // next probe may work.
  const bool far_behind =
      !parked_before(item) && ledger_.appended() - item.sequence > lane_.lanes.max_incomplete / 2;
  const bool fills =
      far_behind ||
      (in_backlog && (line.backlog().size() > at.share_records || line.bytes_kept() > at.share_bytes));
  if (!(at.out() ? parked_before(item) || others_may(item, at.others, fills) : others_could(item, at.others)))
    return false;
  if (at.now - item.arrived >= lane_.lanes.park_after || far_behind) return true;
  return in_backlog && at.out() && ((at.out_for_long && !parked_before(item)) || fills);
}

}  // namespace laneway::lane
