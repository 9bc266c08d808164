#include "lane/shared/pool_outages.h"

#include <algorithm>

namespace laneway::lane {

void PoolOutages::worked(TimePoint now) {
  if (begun_ == TimePoint{}) begun_ = now;
  if (certain_ && now - failing_since_ >= shortest) add({failing_since_, now});
  failing_since_ = {};
  certain_ = false;
}

void PoolOutages::failed(Subscriber who, bool certain, TimePoint now) {
  if (failing_since_ == TimePoint{}) {
    failing_since_ = now;
    first_ = who;
  }
  certain_ = certain_ || certain || who != first_;
}

void PoolOutages::add(Outage outage) {
  constexpr Duration oldest = std::chrono::hours(24 * 8);  // no record may wait for longer than a week
  if (!outages_.empty() && outage.begin - outages_.back().end < shortest) {
    outages_.back().end = outage.end;
    return;
  }
  std::erase_if(outages_, [&](const Outage& other) { return outage.end - other.end > oldest; });
  const auto shorter = [](const Outage& one, const Outage& other) { return one.length() < other.length(); };
  if (outages_.size() == most) outages_.erase(std::min_element(outages_.begin(), outages_.end(), shorter));
  outages_.push_back(outage);
}

bool PoolOutages::has_waited(Duration age, Duration longest, TimePoint worked_at, TimePoint now) const {
  const auto since = now - age;
  if (begun_ == TimePoint{} || worked_at < since || certain_) return false;
  if (now - begun_ < std::min(longest, proof)) return false;
  auto waited = age;
  for (const auto& outage : outages_) {
    if (now - outage.end < std::min(longest, std::clamp(outage.length(), least_proof, proof))) return false;
    waited -= std::max<Duration>(outage.end - std::max(outage.begin, since), Duration::zero());
  }
  return waited >= longest;
}

}  // namespace laneway::lane
