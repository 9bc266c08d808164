#include "service/lanes/lane_history.h"

namespace laneway::service {
namespace {

/// A lane that takes records, and whose lag is not known, waits for the first answer of its partition.
bool idle(const LaneView& lane) {
  const bool unheard = lane.lag < 0 && lane.state == lane::State::running;
  return (lane.lag <= 0 && !unheard) || lane.suspended() || !lane.at_work();
}

bool moved(const LaneView& before, const LaneView& now) {
  return now.finished != before.finished || now.committed != before.committed;
}

bool gave_up(const LaneView& before, const LaneView& now) {
  return now.finished - now.done != before.finished - before.done;
}

/// A hold that is newer than `before` began after a time without a hold.
bool ran(const LaneView& before, const LaneView& now) {
  return now.state == lane::State::running || !now.at_work() || now.suspended() || now.holds != before.holds;
}

std::vector<std::uint64_t> attempts_of(const LaneView& lane) {
  std::vector<std::uint64_t> attempts;
  for (const auto& pool : lane.pools) attempts.push_back(pool.done);
  return attempts;
}

}  // namespace

void LaneHistory::observe(const std::vector<LaneView>& lanes, TimePoint now) {
  std::map<std::uint64_t, Lane> next;
  for (const auto& view : lanes) {
    auto known = lanes_.extract(view.epoch);
    Lane lane = known.empty() ? Lane{view, {}, now, now, now} : std::move(known.mapped());
    // An outage may be over before the first look.
    if (known.empty() && view.done > 0 && view.finished == view.done) lane.worked = now;
    if (idle(view) || moved(lane.last, view)) lane.progressed = now;
    if (ran(lane.last, view)) lane.running = now;
    if (view.done > lane.last.done) lane.worked = gave_up(lane.last, view) ? lane.observed : now;
    lane.observed = now;
    lane.last = view;
    lane.samples.push_back({now, view.done, view.dead_letters, attempts_of(view)});
    while (lane.samples.size() > 2 && lane.samples[1].at <= now - window) lane.samples.pop_front();
    next.emplace(view.epoch, std::move(lane));
  }
  lanes_ = std::move(next);
}

double LaneHistory::rate(const LaneView& lane) const {
  return rate_of(lane, [](const Sample& sample) { return sample.done; });
}

double LaneHistory::dead_letter_rate(const LaneView& lane) const {
  return rate_of(lane, [](const Sample& sample) { return sample.dead_letters; });
}

double LaneHistory::pool_rate(const LaneView& lane, std::size_t pool) const {
  return rate_of(lane, [pool](const Sample& sample) {
    return pool < sample.of_pools.size() ? sample.of_pools[pool] : std::uint64_t{0};
  });
}

template <class Count>
double LaneHistory::rate_of(const LaneView& lane, Count count) const {
  const auto found = lanes_.find(lane.epoch);
  if (found == lanes_.end()) return 0;
  const auto& samples = found->second.samples;
  const auto time = samples.back().at - samples.front().at;
  if (time <= Duration::zero()) return 0;
  return static_cast<double>(count(samples.back()) - count(samples.front())) / to_seconds(time);
}

Duration LaneHistory::without_progress(const LaneView& lane, TimePoint now) const {
  const auto found = lanes_.find(lane.epoch);
  if (found == lanes_.end() || idle(lane) || moved(found->second.last, lane)) return Duration::zero();
  return now - found->second.progressed;
}

bool LaneHistory::error_is_over(const LaneView& lane, const lane::LaneDetail& detail) const {
  const auto found = lanes_.find(lane.epoch);
  if (!detail.last_error || found == lanes_.end()) return false;
  const bool finished = !detail.oldest || detail.oldest->offset > detail.last_error->offset;
  return finished && found->second.worked >= detail.last_error->at;
}

Duration LaneHistory::held(const LaneView& lane, TimePoint now) const {
  const auto found = lanes_.find(lane.epoch);
  if (found == lanes_.end() || ran(found->second.last, lane)) return Duration::zero();
  return now - found->second.running;
}

}  // namespace laneway::service
