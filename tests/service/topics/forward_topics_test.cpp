// What the settings of retry topics and dead-letter topics mean for the records that are written there.
#include "service/topics/forward_topics.h"

#include "catch.h"
#include "config/pools/parking.h"
#include "eventually.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::service;

namespace {

using std::chrono::hours;
using std::chrono::minutes;

struct Topics {
  Topics() {
    config.topics = {"orders"};
    config.retry.topics = {{"10m", minutes(10)}};
    config.dead_letter.topic = "{topic}-dlt";
    topics = forward_topics(config, {{"orders", 4}});
  }
  ForwardVerdict judge(const std::string& topic, kafka::TopicLimits limits) const {
    return judge_forward_topics(topics, {{topic, limits}});
  }

  config::Config config;
  std::vector<ForwardTopic> topics;
};

}  // namespace

TEST_CASE("each source has its retry topics and its dead-letter topic, and each name comes once") {
  Topics test;
  REQUIRE(test.topics.size() == 2);
  CHECK(test.topics[0].name == "orders-retry-10m");
  CHECK(test.topics[0].kind() == std::string("retry topic"));
  CHECK(test.topics[1].name == "orders-dlt");
  CHECK(test.topics[1].kind() == std::string("dead-letter topic"));
  test.config.dead_letter.topic = "letters";
  CHECK(forward_topics(test.config, {{"orders", 4}, {"refunds", 1}}).size() == 3);
}

TEST_CASE("a compacted topic is refused, also with delete, because records without a key would be stuck") {
  const Topics test;
  for (const char* topic : {"orders-dlt", "orders-retry-10m"}) {
    const auto verdict = test.judge(topic, {.compacted = true, .retention = {}});
    REQUIRE(verdict.refusal);
    CHECK(verdict.refusal->kind == ErrorKind::configuration);
    CHECK(verdict.refusal->text().find(topic) != std::string::npos);
    CHECK(verdict.refusal->text().find("cleanup.policy=delete") != std::string::npos);
  }
}

TEST_CASE("a retention that loses records causes a warning") {
  const Topics test;
  const auto warnings = [&](const char* topic, Duration retention) {
    const auto verdict = test.judge(topic, {.compacted = false, .retention = retention});
    CHECK_FALSE(verdict.refusal);
    return verdict.warnings;
  };
  REQUIRE(warnings("orders-retry-10m", minutes(5)).size() == 1);
  CHECK(warnings("orders-retry-10m", minutes(5)).front().find("keeps records for 5m") != std::string::npos);
  CHECK(warnings("orders-retry-10m", minutes(10)).size() == 1);
  CHECK(warnings("orders-retry-10m", hours(1)).empty());
  CHECK(warnings("orders-dlt", hours(1)).size() == 1);
  CHECK(warnings("orders-dlt", hours(7 * 24)).empty());
}

TEST_CASE("topics that are kept forever, or whose settings are invisible, cause no warning") {
  const Topics test;
  const auto kept = test.judge("orders-dlt", {.compacted = false, .retention = {}});
  CHECK_FALSE(kept.refusal);
  CHECK(kept.warnings.empty());
  const auto hidden = judge_forward_topics(test.topics, {});
  CHECK_FALSE(hidden.refusal);
  CHECK(hidden.warnings.empty());
}

TEST_CASE("a service that does not park records any more warns of the retry topics that it does not read") {
  auto started = kafka::MockCluster::start(1);
  REQUIRE(started);
  auto& cluster = **started;
  REQUIRE(cluster.create_topic("orders", 2));
  REQUIRE(cluster.create_topic("orders-billing-retry-10m", 2));
  config::Config config;
  config.topics = {"orders"};
  config.kafka["bootstrap.servers"].value = cluster.bootstrap();
  config.kafka["group.id"].value = "billing";
  const auto directory = kafka::Directory::open(config.kafka);
  REQUIRE(directory);
  const auto warnings = [&] { return unread_retry_topics(config, **directory, patience); };
  REQUIRE(warnings().size() == 1);
  CHECK(warnings().front().find("orders-billing-retry-10m is not read") != std::string::npos);
  config.unnamed.each.by = {config::Selector::Kind::key, ""};
  REQUIRE(config::parks(config));
  CHECK(warnings().empty());
  config.retry.topics = {{"30s", seconds(30)}};
  REQUIRE(config::parks(config));
  REQUIRE(warnings().size() == 1);
  CHECK(warnings().front().find("take retry.topics out until the topic has no lag") != std::string::npos);
  config.retry.topics = {{"10m", std::chrono::minutes(10), "billing"}};
  CHECK(warnings().empty());
  config.retry.topics.clear();
  config.lanes.park_after = Duration::zero();
  CHECK(warnings().size() == 1);
  config.kafka["group.id"].value = "shipping";
  CHECK(warnings().empty());
}
