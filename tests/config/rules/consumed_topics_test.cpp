// Which topics a pattern finds, and which it never does.
#include "config/rules/consumed_topics.h"

#include "catch.h"
#include "config/handler_settings.h"

using namespace laneway::config;

namespace {

Config by_pattern(const std::string& pattern, const std::string& letters = "") {
  Config config;
  config.topics = {pattern};
  config.dead_letter.topic = letters;
  return config;
}

}  // namespace

TEST_CASE("a pattern matches a part of the name, and has POSIX extended syntax") {
  const ConsumedTopics topics(by_pattern("^orders-[a-z]+$|refunds"));
  CHECK(topics.contains("orders-eu"));
  CHECK(topics.contains("my-refunds"));
  CHECK_FALSE(topics.contains("orders"));
  CHECK_FALSE(topics.contains("orders-7"));
  CHECK(topics.exclusions().empty());
}

TEST_CASE("a list of names consumes exactly these topics") {
  Config config;
  config.topics = {"orders", "orders-dlt"};
  config.dead_letter.topic = "{topic}-failed";
  const ConsumedTopics topics(config);
  CHECK(topics.contains("orders-dlt"));
  CHECK_FALSE(topics.contains("orders-eu"));
  CHECK(topics.left_out_by("orders-failed").empty());
}

TEST_CASE("a pattern does not consume the dead letters of its topics, at any depth") {
  for (const char* pattern : {"^orders", "^ord|^pay", "^[^_]"}) {
    CAPTURE(pattern);
    const ConsumedTopics topics(by_pattern(pattern, "{topic}-dlt"));
    std::string letters = "orders";
    CHECK(topics.contains(letters));
    for (int depth = 0; depth < 20; ++depth) {
      letters += "-dlt";
      CHECK_FALSE(topics.contains(letters));
    }
  }
  const ConsumedTopics topics(by_pattern("^orders", "{topic}-dlt"));
  CHECK(topics.left_out_by("orders-dlt") == "dead_letter.topic");
  CHECK(topics.left_out_by("refunds-dlt").empty());  // the pattern does not find it
}

TEST_CASE("a service may consume the dead letters of others, but not its own") {
  const ConsumedTopics topics(by_pattern("^.*-dlt$", "{topic}-dlt"));
  CHECK(topics.contains("orders-dlt"));
  CHECK_FALSE(topics.contains("orders-dlt-dlt"));
  const ConsumedTopics other(by_pattern("^dlt", "dlt.{topic}.v1"));
  CHECK(other.contains("dlt.orders.v1"));
  CHECK_FALSE(other.contains("dlt.dlt.orders.v1.v1"));
  const ConsumedTopics fixed(by_pattern("^l", "letters"));
  CHECK_FALSE(fixed.contains("letters"));
  CHECK(fixed.contains("letters-eu"));
}

TEST_CASE("topics that a handler of the service writes to are left out, unless in another cluster") {
  auto config = by_pattern("^orders");
  ProduceSettings produce;
  produce.topic = "{topic}-out";
  produce.topics = {"orders-audit"};
  config.handler = produce;
  const ConsumedTopics topics(config);
  CHECK(topics.left_out_by("orders-out") == "handler.produce.topic");
  CHECK(topics.left_out_by("orders-audit") == "handler.produce.topics");
  CHECK(topics.exclusions() == "handler.produce.topic {topic}-out, handler.produce.topics orders-audit");
  PoolSettings pool;
  pool.name = "out";
  pool.handler = config.handler;
  config.handler = LogSettings{};
  config.pools = {pool};
  CHECK_FALSE(ConsumedTopics(config).contains("orders-out"));
  produce.client["bootstrap.servers"] = {"elsewhere:9092", "", false};
  config.pools.front().handler = produce;
  CHECK(ConsumedTopics(config).contains("orders-out"));
}

TEST_CASE("exclude_topics leaves out names and patterns") {
  auto config = by_pattern("^orders", "{topic}-dlt");
  config.exclude_topics = {"orders-test", "^orders-old"};
  const ConsumedTopics topics(config);
  CHECK(topics.left_out_by("orders-test") == "exclude_topics");
  CHECK(topics.left_out_by("orders-old-eu") == "exclude_topics");
  CHECK(topics.contains("orders-test-eu"));
  CHECK(topics.contains("orders"));
  CHECK_FALSE(topics.contains("orders-test-dlt"));
  CHECK(topics.exclusions() == "exclude_topics, dead_letter.topic {topic}-dlt");
}
