#include "delivery/retry/retry_steps.h"

#include <algorithm>

namespace laneway::delivery {

Duration RetryStep::wait(std::int64_t timestamp, std::int64_t now) const {
  if (timestamp < 0 || timestamp >= now) return delay;
  // An age beyond the delay makes no difference, and an old timestamp must not overflow the clock.
  const auto longest = duration_cast<milliseconds>(delay).count() + 1;
  const Duration age = milliseconds(std::min(now - timestamp, longest));
  return std::max(delay - age, Duration::zero());
}

void RetrySteps::add(const std::string& source,
                     const std::vector<std::pair<std::string, Duration>>& retry_topics, RetryUses uses) {
  RetryStep* before = &steps_[source];
  before->topic = before->source = source;
  for (const auto& [topic, delay] : retry_topics) {
    if (uses.failed) before->next = topic;
    if (uses.parked) before->parks_in = topic;
    before = &steps_[topic];
    *before = {source, {}, delay, {}, topic};
  }
  if (uses.parked && !retry_topics.empty()) before->parks_in = retry_topics.back().first;
}

const RetryStep* RetrySteps::find(std::string_view topic) const {
  const auto found = steps_.find(topic);
  return found == steps_.end() ? nullptr : &found->second;
}

}  // namespace laneway::delivery
