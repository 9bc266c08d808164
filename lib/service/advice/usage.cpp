#include "service/advice/usage.h"

#include <algorithm>

namespace laneway::service {
namespace {

/// Begins a slice if there is none or the last one is over, and forgets slices older than the window.
template <class Slices, class Slice>
void advance(Slices& slices, Duration length, TimePoint now, Slice begun) {
  if (slices.empty() || now - slices.back().begun >= length) slices.push_back(std::move(begun));
  while (slices.front().begun + length <= now - UsageHistory::window) slices.pop_front();
}

}  // namespace

void UsageHistory::observe(const std::vector<LaneView>& lanes, std::size_t members, std::size_t idle_members,
                           Duration cpu, TimePoint now) {
  advance(process_, slice, now, ProcessSlice{now, cpu, idle_members});
  process_.back().idle_members = std::min(process_.back().idle_members, idle_members);
  cpu_ = cpu;
  at_ = now;
  members_ = members;
  std::map<std::uint64_t, Lane> next;
  for (const auto& view : lanes) {
    auto known = lanes_.extract(view.epoch);
    Lane lane = known.empty() ? Lane{view, now, {}} : std::move(known.mapped());
    if (lane.last.workers != view.workers) lane.slices.clear();
    add(lane, view, now);
    next.emplace(view.epoch, std::move(lane));
  }
  lanes_ = std::move(next);
}

void UsageHistory::add(Lane& lane, const LaneView& view, TimePoint now) {
  advance(lane.slices, slice, now, LaneSlice{.begun = now, .lag = view.lag, .finished = view.finished});
  LaneSlice& current = lane.slices.back();
  if (current.lag < 0) current.lag = view.lag;
  ++current.samples;
  if (view.free_workers == 0) ++current.all_busy;
  if (2 * view.free_workers >= view.workers) ++current.idle;
  current.used += view.used_workers();
  current.outstanding += view.queued + view.in_flight;
  for (const auto& reason : lane::hold_reasons)
    if (view.held_by(reason.hold)) ++current.held[lane::index_of(reason.hold)];
  lane.last = view;
  lane.at = now;
}

LaneUsage UsageHistory::usage_of(const Lane& lane) {
  LaneUsage usage;
  usage.name = name_of(lane.last);
  const LaneSlice& first = lane.slices.front();
  usage.span = lane.at - first.begun;
  usage.lag = std::max<std::int64_t>(lane.last.lag, 0);
  double samples = 0;
  for (const auto& one : lane.slices) {
    samples += one.samples;
    usage.all_busy += one.all_busy;
    usage.idle += one.idle;
    usage.used += static_cast<double>(one.used);
    usage.outstanding += static_cast<double>(one.outstanding);
    for (std::size_t i = 0; i < usage.held.size(); ++i) usage.held[i] += one.held[i];
  }
  for (double* sum : {&usage.all_busy, &usage.idle, &usage.used, &usage.outstanding}) *sum /= samples;
  for (double& sum : usage.held) sum /= samples;
  if (usage.span <= Duration::zero()) return usage;
  usage.rate = static_cast<double>(lane.last.finished - first.finished) / to_seconds(usage.span);
  if (first.lag >= 0 && lane.last.lag >= 0)
    usage.lag_growth = static_cast<double>(lane.last.lag - first.lag) / to_seconds(usage.span);
  return usage;
}

Usage UsageHistory::usage() const {
  Usage usage;
  if (process_.empty()) return usage;
  usage.span = at_ - process_.front().begun;
  if (usage.span > Duration::zero())
    usage.cores = to_seconds(cpu_ - process_.front().cpu) / to_seconds(usage.span);
  usage.members = members_;
  usage.idle_members = members_;
  for (const auto& one : process_) usage.idle_members = std::min(usage.idle_members, one.idle_members);
  for (const auto& [epoch, lane] : lanes_) usage.lanes.push_back(usage_of(lane));
  return usage;
}

}  // namespace laneway::service
