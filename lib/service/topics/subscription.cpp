#include "service/topics/subscription.h"

#include <algorithm>
#include <memory>

#include "config/client/client_keys.h"
#include "config/rules/consumed_topics.h"
#include "config/text.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

constexpr std::size_t most_named = 20;  // topics that a pattern leaves out

}  // namespace

lane::TopicSubscription subscription_to(const config::Config& config,
                                        const std::vector<kafka::TopicInfo>& topics) {
  lane::TopicSubscription subscription;
  for (const auto& topic : topics) subscription.names.push_back(topic.name);
  std::sort(subscription.names.begin(), subscription.names.end());
  if (!config.topics_by_pattern()) return subscription;
  subscription.pattern = std::make_shared<const config::ConsumedTopics>(config);
  subscription.interval = config::topic_look_up_interval(config.kafka);
  return subscription;
}

void report_left_out(std::vector<std::string> topics) {
  if (topics.empty()) return;
  const auto count = topics.size();
  topics.resize(std::min(count, most_named));
  telemetry::info("the pattern in topics leaves topics out",
                  {{"count", count}, {"topics", config::join(topics, ", ")}});
}

}  // namespace laneway::service
