#include "delivery/limit/drop_baseline.h"

#include <algorithm>
#include <cmath>

namespace laneway::delivery {
namespace {

constexpr double few = 0.02;
constexpr double half = 0.5;
constexpr double precise = 0.33;  // error of a share that becomes the baseline, in shares of it: ten dropped
constexpr std::uint64_t many = 1000;  // calls that decide, whatever chance may do
constexpr Duration long_time = seconds(20);

}  // namespace

void DropCount::add(const DropCount& more) {
  calls += more.calls;
  dropped += more.dropped;
  time += more.time;
  timeout = std::max(timeout, more.timeout);
}

double DropCount::share() const {
  return calls == 0 ? 0 : static_cast<double>(dropped) / static_cast<double>(calls);
}

double DropCount::error(double share) const {
  if (calls == 0) return 1;
  const auto count = static_cast<double>(calls);
  return std::sqrt((share * (1 - share) + 1 / count) / count);
}

double DropBaseline::margin() const { return std::max(few, half * share_); }

double DropBaseline::part_above(double share) const { return share > share_ ? 1 - share_ / share : 0; }

void DropBaseline::count(const DropCount& calls, TimePoint now) {
  above_.add(calls);
  if (above_.share() <= share_ + margin()) above_ = {};
  long_.add(calls);
  if (long_.calls < many || now - long_begun_ < long_time) return;
  if (long_.share() + 3 * long_.error(long_.share()) < share_) share_ = long_.share();
  long_ = {};
  long_begun_ = now;
}

bool DropBaseline::exceeded() const {
  const double most = share_ + margin();
  return above_.share() > most + 3 * above_.error(most);
}

std::optional<bool> DropBaseline::persists(const DropCount& calls) const {
  const double share = calls.share();
  const double error = calls.error(share);
  const double difference = share - (share_ + margin() / 2);
  if (!calls.whole_wave()) return {};
  const bool chance = std::abs(difference) <= 2 * error || (difference > 0 && error > precise * share);
  if (chance && calls.calls < many) return {};
  return difference > 0;
}

void DropBaseline::learn(const DropCount& calls, TimePoint now) {
  share_ = calls.share();
  above_ = long_ = {};
  long_begun_ = now;
}

}  // namespace laneway::delivery
