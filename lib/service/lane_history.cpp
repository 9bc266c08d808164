#include "service/lane_history.h"

namespace laneway::service {
namespace {

bool idle(const LaneView& lane) { return lane.lag <= 0 || lane.suspended() || !lane.at_work(); }

bool moved(const LaneView& before, const LaneView& now) {
  return now.finished != before.finished || now.committed != before.committed;
}

/// A hold that is newer than `before` began after a time without a hold.
bool ran(const LaneView& before, const LaneView& now) {
  return now.state == lane::State::running || !now.at_work() || now.suspended() || now.holds != before.holds;
}

}  // namespace

void LaneHistory::observe(const std::vector<LaneView>& lanes, TimePoint now) {
  std::map<std::uint64_t, Lane> next;
  for (const auto& view : lanes) {
    auto known = lanes_.extract(view.epoch);
    Lane lane = known.empty() ? Lane{view, {}, now, now} : std::move(known.mapped());
    if (idle(view) || moved(lane.last, view)) lane.progressed = now;
    if (ran(lane.last, view)) lane.running = now;
    lane.last = view;
    lane.samples.push_back({now, view.done, view.dead_letters});
    while (lane.samples.size() > 2 && lane.samples[1].at <= now - window) lane.samples.pop_front();
    next.emplace(view.epoch, std::move(lane));
  }
  lanes_ = std::move(next);
}

double LaneHistory::rate(const LaneView& lane) const { return rate_of(lane, &Sample::done); }

double LaneHistory::dead_letter_rate(const LaneView& lane) const {
  return rate_of(lane, &Sample::dead_letters);
}

double LaneHistory::rate_of(const LaneView& lane, std::uint64_t Sample::*count) const {
  const auto found = lanes_.find(lane.epoch);
  if (found == lanes_.end()) return 0;
  const auto& samples = found->second.samples;
  const auto time = samples.back().at - samples.front().at;
  if (time <= Duration::zero()) return 0;
  return static_cast<double>(samples.back().*count - samples.front().*count) / to_seconds(time);
}

Duration LaneHistory::without_progress(const LaneView& lane, TimePoint now) const {
  const auto found = lanes_.find(lane.epoch);
  if (found == lanes_.end() || idle(lane) || moved(found->second.last, lane)) return Duration::zero();
  return now - found->second.progressed;
}

Duration LaneHistory::held(const LaneView& lane, TimePoint now) const {
  const auto found = lanes_.find(lane.epoch);
  if (found == lanes_.end() || ran(found->second.last, lane)) return Duration::zero();
  return now - found->second.running;
}

}  // namespace laneway::service
