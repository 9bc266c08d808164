#include "config/topics/retry_topics.h"

namespace laneway::config {

std::string retry_topic(const std::string& topic, const RetryDelay& delay) {
  return topic + "-retry-" + delay.text;
}

std::vector<std::string> retry_topics(const Config& config) {
  std::vector<std::string> names;
  for (const auto& topic : config.topics)
    for (const auto& delay : config.retry.topics) names.push_back(retry_topic(topic, delay));
  return names;
}

}  // namespace laneway::config
