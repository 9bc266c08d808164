// Which services park records, in which topics, and what the messages say where none is parked.
#include "config/pools/parking.h"

#include "catch.h"
#include "config/loaded.h"

using namespace laneway;
using namespace laneway::config;

namespace {

const std::string tenants =
    "route: { by: key, pools: { gold: gold }, default: bulk }\npools: { gold: {}, bulk: {} }\n";
const std::string chain = "pools: { load: { then: store }, store: {} }\n";

Config config_with(const std::string& more) {
  const auto result = loaded(base + more);
  INFO(report(result.errors));
  REQUIRE(result.config);
  return *result.config;
}

}  // namespace

TEST_CASE("records are parked where a pool or a subscriber could stop others of its lane") {
  CHECK(parks(config_with(tenants)));
  CHECK(parks(config_with("pools: { send: { each: { by: key, workers: 1 } } }\n")));
  CHECK_FALSE(parks(config_with("")));
  CHECK_FALSE(parks(config_with(chain)));
  CHECK(not_parked_because(config_with(chain)) == "no other records of a lane could go on");
}

TEST_CASE("parked records wait in the configured retry topics, or in usual ones") {
  CHECK(retry_topics(config_with(tenants)) == std::vector<std::string>{"orders-orders-retry-10s",
                                                                       "orders-orders-retry-1m",
                                                                       "orders-orders-retry-10m"});
  CHECK(retry_topics(config_with(tenants + "retry: { topics: [5s] }\ndead_letter: { topic: d }\n")) ==
        std::vector<std::string>{"orders-retry-5s"});
  CHECK(retry_topics(config_with("")).empty());
  CHECK(retry_topics(config_with(tenants + "lanes: { park_after: 0s }\n")).empty());
}

TEST_CASE("nothing is parked where order, unknown topics or skipped records forbid it, or the user does") {
  const auto why = [](const std::string& more) { return not_parked_because(config_with(tenants + more)); };
  CHECK(why("lanes: { park_after: 0s }\n") == "lanes.park_after is 0s");
  CHECK(why("lanes: { order: key }\n") ==
        "with lanes.order: key later records would overtake a record that waits in a retry topic");
  CHECK(why("retry: { create: false }\n") == "retry.create is false, and retry.topics names no retry topics");
  auto config = config_with(tenants);
  config.topics = {"^orders"};
  CHECK(not_parked_because(config) == "topics is a pattern, so the retry topics are not known at the start");
  config.topics = {"orders", "orders-orders-retry-1m"};
  CHECK(not_parked_because(config) == "the retry topic orders-orders-retry-1m is not possible");
  config.topics = {"orders"};
  config.kafka["group.id"].value = "a group";
  CHECK(not_parked_because(config) == "the retry topic orders-a group-retry-10s is not possible");
  config.kafka["group.id"].value = "orders";
  config.kafka["auto.offset.reset"].value = "latest";
  CHECK(not_parked_because(config).find("would be skipped") != std::string::npos);
}

TEST_CASE("lanes.park_after is refused where nothing can be parked") {
  const auto errors = [](const std::string& more) { return errors_of(base + more); };
  CHECK(
      errors("lanes: { park_after: 5s }\n") ==
      "f.yaml:7:22: lanes.park_after: this key has no effect: no other records of a lane could go on (remove "
      "lanes.park_after, or set it to 0s)\n");
  CHECK(errors(tenants + "lanes: { park_after: 5s }\n").empty());
  CHECK(errors(tenants + "lanes: { park_after: 5s, order: key }\n").find("would overtake") !=
        std::string::npos);
  CHECK(errors(tenants + "lanes: { park_after: 0s, order: key }\n").empty());
}

TEST_CASE("each.longest_wait needs a dead-letter topic") {
  const std::string each = "pools: { send: { each: { by: key, workers: 1, longest_wait: 1h } } }\n";
  CHECK(
      errors_of(base + each) ==
      "f.yaml:7:61: pools.send.each.longest_wait: without a dead-letter topic no record is given up, so this "
      "key has no effect (set dead_letter.topic, such as \"{topic}-dlt\", or remove each.longest_wait)\n");
  CHECK(errors_of(base + each + "dead_letter: { topic: d }\n").empty());
}
