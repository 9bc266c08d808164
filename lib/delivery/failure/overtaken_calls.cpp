#include "delivery/failure/overtaken_calls.h"

#include <algorithm>

namespace laneway::delivery {
namespace {

constexpr Duration a_little = milliseconds(5);
constexpr std::size_t most_by_chance = 16;
constexpr std::uint64_t worked_for_each = 4;
constexpr std::size_t most_samples = 128;
constexpr std::size_t most_calls = 512;

}  // namespace

void OvertakenCalls::note(TimePoint now, std::uint64_t worked) {
  latest_ = {now, worked};
  if (!samples_.empty() && now - samples_.back().at < seconds(1)) return;
  samples_.push_back(latest_);
  if (samples_.size() > most_samples) samples_.pop_front();
}

bool OvertakenCalls::add(const Call& failed, const Call& last, Duration longest) {
  const auto took = failed.ended - failed.began;
  const auto long_time = longest * 3 / 2 + a_little;
  if (last.began < failed.began || took < long_time) return false;
  for (; !overtaken_.empty() && overtaken_.front().ended < failed.ended - took; overtaken_.pop_front())
    by_chance_ -= overtaken_.front().by_far ? 0 : 1;
  if (overtaken_.size() == most_calls) return false;
  const bool by_far =
      last.ended - failed.began >= long_time && overtaken_.size() < most_by_share(failed.began);
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
  const auto before = first == samples_.begin() ? 0 : std::prev(first)->worked;
  return (end == samples_.end() ? latest_ : *end).worked - before;
}

}  // namespace laneway::delivery
