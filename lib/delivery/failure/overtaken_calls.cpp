#include "delivery/failure/overtaken_calls.h"

#include <algorithm>

namespace laneway::delivery {
namespace {

constexpr Duration a_little = milliseconds(5);
constexpr std::size_t most_by_chance = 16;
constexpr std::uint64_t worked_for_each = 8;
constexpr Duration between_samples = milliseconds(250);
constexpr std::size_t most_samples = 1024;
constexpr std::size_t most_calls = 1024;
/// Failures are compared with the calls that worked over this time at least: samples are too far apart for
/// less.
constexpr Duration shortest = seconds(2);

}  // namespace

void OvertakenCalls::note(TimePoint now, std::uint64_t worked) {
  latest_ = {now, worked};
  if (!samples_.empty() && now - samples_.back().at < between_samples) return;
  samples_.push_back(latest_);
  if (samples_.size() > most_samples) samples_.pop_front();
}

bool OvertakenCalls::add(const Call& failed, const Worked& worked) {
  const auto took = failed.ended - failed.began;
  const auto long_time = worked.usual_at_most + a_little;
  if (worked.began < failed.began || took < long_time) return false;
  const auto kept_since = failed.ended - std::max<Duration>(took, shortest);
  for (; !overtaken_.empty() && overtaken_.front().ended < kept_since; overtaken_.pop_front())
    by_chance_ -= overtaken_.front().by_far ? 0 : 1;
  if (overtaken_.size() == most_calls) return false;
  const bool by_far =
      worked.ended - failed.began >= long_time && overtaken_.size() < most_by_share(failed.began);
  if (!by_far && by_chance_ == most_by_chance) return false;
  by_chance_ += by_far ? 0 : 1;
  overtaken_.push_back({failed, by_far});
  return true;
}

std::uint64_t OvertakenCalls::most_by_share(TimePoint began) const {
  auto oldest = began;
  for (const auto& call : overtaken_) oldest = std::min(oldest, call.began);
  return worked_between(oldest, began) / worked_for_each;
}

/// Also those of the seconds in which the times are.
std::uint64_t OvertakenCalls::worked_between(TimePoint from, TimePoint to) const {
  const auto after = [](TimePoint time, const Sample& sample) { return time < sample.at; };
  const auto first = std::upper_bound(samples_.begin(), samples_.end(), from, after);
  const auto end = std::find_if(first, samples_.end(), [&](const Sample& sample) { return sample.at >= to; });
  const bool knows_the_start = samples_.size() < most_samples;
  if (first == samples_.begin() && !knows_the_start) return 0;
  const auto before = first == samples_.begin() ? 0 : std::prev(first)->worked;
  return (end == samples_.end() ? latest_ : *end).worked - before;
}

}  // namespace laneway::delivery
