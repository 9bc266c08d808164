#include "app/demo/observer.h"

#include <algorithm>
#include <utility>

namespace laneway::demo {
namespace {

using lane::State;

std::string name(std::size_t partition) { return "lane " + std::to_string(partition); }

bool has_lane(const Row& row, std::size_t member) { return row.member == member && row.state; }

/// " 0 1 2"; empty if the member has no lanes.
std::string lanes_of_member(const Rows& rows, std::size_t member) {
  std::string text;
  for (std::size_t p = 0; p < rows.size(); ++p)
    if (has_lane(rows[p], member)) text += ' ' + std::to_string(p);
  return text;
}

std::ptrdiff_t draining(const Rows& rows, std::size_t member) {
  return std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
    return has_lane(row, member) && *row.state == State::draining;
  });
}

}  // namespace

std::vector<std::string> Observer::update(const std::vector<std::vector<service::LaneView>>& members) {
  std::vector<std::string> events;
  const Rows before = rows_;
  for (auto& row : rows_) {
    row.member = 0;
    row.state.reset();
    row.queued = row.in_flight = 0;
  }
  for (std::size_t member = 0; member < members.size(); ++member)
    for (const auto& view : members[member]) take(static_cast<std::size_t>(view.partition), member + 1, view);
  tell_members(before, members.size(), events);
  for (std::size_t p = 0; p < rows_.size(); ++p) tell_change(p, before[p].state, events);
  return events;
}

void Observer::take(std::size_t partition, std::size_t member, const service::LaneView& view) {
  Row& row = rows_[partition];
  Present& present = present_[partition];
  if (view.epoch != present.epoch) present = {view.epoch, 0, 0, false};
  row.member = member;
  row.state = view.state;
  row.queued = view.queued;
  row.in_flight = view.in_flight;
  row.delivered = view.delivered;
  row.committed = std::max(row.committed, view.committed);
  row.holds += view.holds - std::exchange(present.holds, view.holds);
  row.pauses += view.pauses - std::exchange(present.pauses, view.pauses);
}

/// Reports only the first of a lane's holds.
void Observer::tell_change(std::size_t partition, std::optional<State> before,
                           std::vector<std::string>& events) {
  const Row& row = rows_[partition];
  if (before == row.state) return;
  if (row.state == State::held && before != State::paused &&
      !std::exchange(present_[partition].hold_told, true))
    events.push_back(name(partition) + " held: its queue is full, " + std::to_string(row.lag()) + " behind");
  if (row.state == State::paused)
    events.push_back(name(partition) + " paused: the hold lasted, so fetching stops");
  if (before == State::paused && (row.state == State::running || row.state == State::held))
    events.push_back(name(partition) + " resumed");
}

void Observer::tell_members(const Rows& before, std::size_t members, std::vector<std::string>& events) const {
  for (std::size_t member = 1; member <= members; ++member) {
    const std::string who = "member " + std::to_string(member);
    const auto now_draining = draining(rows_, member);
    if (now_draining > 0 && draining(before, member) == 0)
      events.push_back(who + " drains " + std::to_string(now_draining) + " lanes");
    const auto lanes = lanes_of_member(rows_, member);
    if (lanes == lanes_of_member(before, member)) continue;
    events.push_back(lanes.empty() ? who + " has given its lanes back" : who + " has lanes" + lanes);
  }
}

std::size_t Observer::lanes_of(std::size_t member) const {
  return static_cast<std::size_t>(
      std::count_if(rows_.begin(), rows_.end(), [&](const Row& row) { return has_lane(row, member); }));
}

}  // namespace laneway::demo
