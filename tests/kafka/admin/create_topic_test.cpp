// The settings of the topics that laneway creates. The embedded cluster keeps none.
#include "kafka/admin/create_topic.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::kafka;

TEST_CASE("a topic is created with its own retention, and not compacted even by the brokers' default") {
  using Settings = std::vector<std::pair<std::string, std::string>>;
  const auto settings = [](std::optional<Duration> retention) {
    const auto all = topic_settings(retention);
    return Settings(all.begin(), all.end());
  };
  CHECK(settings(seconds(60)) == Settings{{"cleanup.policy", "delete"}, {"retention.ms", "60000"}});
  CHECK(settings(std::nullopt) == Settings{{"cleanup.policy", "delete"}, {"retention.ms", "-1"}});
}
