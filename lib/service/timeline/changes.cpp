#include "service/timeline/changes.h"

#include <algorithm>
#include <utility>

#include "config/text.h"

namespace laneway::service {
namespace {

using config::counted;
using Level = TimelineEvent::Level;

constexpr Duration one_flood = seconds(600);  // dead letters after a longer break are another event
constexpr std::size_t most_names = 6;

template <class Map, class Other>
std::vector<std::string> missing_in(const Other& other, const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map)
    if (!other.contains(name)) names.push_back(name);
  return names;
}

std::map<std::string, LaneView> by_name(const std::vector<LaneView>& lanes) {
  std::map<std::string, LaneView> named;
  for (const auto& lane : lanes) named.emplace(name_of(lane), lane);
  return named;
}

/// Totals begin anew with the members.
std::uint64_t more(std::uint64_t before, std::uint64_t now) { return now < before ? now : now - before; }

std::string committed_record(const LaneView& lane) {
  if (lane.committed < 0) return "its oldest record";
  return "record " + name_of(lane) + ':' + std::to_string(lane.committed);
}

}  // namespace

void Changes::observe(const Look& look, TimePoint now, std::int64_t wall_ms, Timeline& timeline) {
  std::vector<Event> events;
  if (look.readiness) compare_readiness(*look.readiness, events);
  compare_breakers(look.downstreams, events);
  compare_group(look, events);
  compare_lanes(look, events);
  for (const auto& event : events) add(event, wall_ms, timeline);
  if (look.totals.dead_letters > totals_.dead_letters)
    count_letters(look, now, wall_ms, letters_last_ && now - letters_at_ < one_flood, timeline);
  totals_ = look.totals;
  lanes_ = by_name(look.lanes);
}

void Changes::add(const Event& event, std::int64_t wall_ms, Timeline& timeline) {
  timeline.add(event.level, event.text, wall_ms);
  letters_last_ = false;
}

void Changes::requested(const ControlRequest& request, const ControlAnswer& answer, std::int64_t wall_ms,
                        Timeline& timeline) {
  using Action = ControlRequest::Action;
  const bool carried_out = answer.kind == ControlAnswer::Kind::done && answer.changed;
  if (!carried_out && answer.kind != ControlAnswer::Kind::accepted) return;
  if (request.action == Action::send_on)
    return add({Level::warn, "An operator sends on the parked records."}, wall_ms, timeline);
  const auto name = request.target();
  if (request.action == Action::give_up)
    return add({Level::warn, "An operator gives up the parked records of " + name + ": " + request.reason},
               wall_ms, timeline);
  if (request.action == Action::suspend)
    return add({Level::warn, name + " is suspended."}, wall_ms, timeline);
  if (request.action == Action::resume)
    return add({Level::good, name + " has been resumed."}, wall_ms, timeline);
  add({Level::warn,
       "An operator skips record " + name + ':' + std::to_string(request.offset) + ": " + request.reason},
      wall_ms, timeline);
}

void Changes::reloaded(std::int64_t wall_ms, Timeline& timeline) {
  add({Level::plain, "The configuration has been reloaded."}, wall_ms, timeline);
}

void Changes::compare_readiness(const Readiness& readiness, std::vector<Event>& events) {
  std::set<std::string> reasons;
  for (const auto& reason : readiness.reasons) {
    const auto key =
        std::string(name_of(reason.code)) + ' ' + reason.topic + ':' + std::to_string(reason.partition);
    if (!reasons_.contains(key)) events.push_back({Level::bad, "Not ready: " + reason.text});
    reasons.insert(key);
  }
  if (readiness.ready() && !ready_) events.push_back({Level::good, "The service is ready."});
  ready_ = readiness.ready();
  reasons_ = std::move(reasons);
}

void Changes::compare_breakers(const std::vector<DownstreamStatus>& downstreams, std::vector<Event>& events) {
  using State = delivery::BreakerState;
  breakers_.resize(downstreams.size());
  for (std::size_t i = 0; i < downstreams.size(); ++i) {
    const auto& [name, pool] = std::tie(downstreams[i].name, downstreams[i].pool);
    const auto state = downstreams[i].state, before = std::exchange(breakers_[i], state);
    if (state == before || state == State::off || (before == State::off && state == State::closed)) continue;
    const auto level = state == State::closed ? Level::good : state == State::open ? Level::bad : Level::warn;
    std::string text = "The breaker of " + (pool.empty() ? name : "the pool " + pool + " (" + name + ')') +
                       " is " + row_of(state).words;
    const auto& why = downstreams[i].last_failure;
    events.push_back({level, text + (state == State::closed || why.empty() ? "." : ": " + why)});
  }
}

void Changes::compare_group(const Look& look, std::vector<Event>& events) {
  const auto lanes = by_name(look.lanes);
  const auto came = missing_in(lanes_, lanes), went = missing_in(lanes, lanes_);
  const auto lost = more(totals_.lost, look.totals.lost);
  if (!came.empty() || !went.empty() || lost > 0 || more(totals_.assigned, look.totals.assigned) > 0) {
    ++rebalances_;
    std::string text = lost > 0 ? "; partitions were lost" : "";
    if (!went.empty()) text += "; removed: " + config::listed(went, most_names);
    if (!came.empty()) text += "; added: " + config::listed(came, most_names);
    text = text.empty() ? ": the lanes are the same as before" : ": " + text.substr(2);
    events.push_back({lost > 0 ? Level::bad : Level::plain, "Rebalance" + text + '.'});
  }
  if (const auto failed = more(totals_.commits_failed, look.totals.commits_failed); failed > 0)
    events.push_back({Level::bad, counted(failed, "commit") + " failed."});
}

void Changes::compare_lanes(const Look& look, std::vector<Event>& events) const {
  for (const auto& now : look.lanes) {
    const auto name = name_of(now);
    const auto found = lanes_.find(name);
    const LaneView none;
    const auto& before = found == lanes_.end() ? none : found->second;
    // The operator's action is an event of its own.
    if (now.suspended() && found == lanes_.end()) events.push_back({Level::warn, name + " is suspended."});
    if (now.silent > Duration::zero() && before.silent == Duration::zero())
      events.push_back(
          {Level::bad, name + " is silent: the log has new records, and the broker delivers none of them."});
    if (now.stuck > before.stuck)
      events.push_back({Level::bad, name + ": a running record is stuck and ignores its stop."});
    if (now.commits_blocked() && !before.commits_blocked())
      events.push_back(
          {Level::warn, name + ": " + committed_record(now) +
                            " is not finished and blocks the commits; later records are finished."});
    if (!now.commits_blocked() && before.commits_blocked() && found != lanes_.end())
      events.push_back({Level::good, name + ": the commits are no longer blocked."});
  }
}

void Changes::count_letters(const Look& look, TimePoint now, std::int64_t wall_ms, bool grows,
                            Timeline& timeline) {
  if (!grows) {
    letters_.clear();
    letters_in_all_ = 0;
  }
  letters_in_all_ += look.totals.dead_letters - totals_.dead_letters;
  for (const auto& lane : look.lanes) {
    const auto found = lanes_.find(name_of(lane));
    const bool same = found != lanes_.end() && found->second.epoch == lane.epoch;
    const auto fresh = lane.dead_letters - (same ? found->second.dead_letters : 0);
    // A lane beyond the bound is counted in the sum alone.
    if (fresh > 0 && (letters_.size() < most_names || letters_.contains(name_of(lane))))
      letters_[name_of(lane)] += fresh;
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : letters_) names.push_back(name + " (" + std::to_string(count) + ')');
  std::string text = counted(letters_in_all_, "dead letter");
  if (letters_.size() == 1 && letters_.begin()->second == letters_in_all_)
    text += ": " + letters_.begin()->first;
  else if (!names.empty())
    text += ": " + config::listed(names, most_names);
  grows ? timeline.amend(Level::warn, text + '.', wall_ms) : timeline.add(Level::warn, text + '.', wall_ms);
  letters_at_ = now;
  letters_last_ = true;
}

}  // namespace laneway::service
