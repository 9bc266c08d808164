#include "app/check/connect.h"

#include "catch.h"
#include "eventually.h"
#include "mock_cluster.h"

using namespace laneway;

namespace {

class Fixture {
 public:
  Fixture() {
    REQUIRE(cluster_.ok());
    REQUIRE((*cluster_)->create_topic("orders", 16).ok());
    REQUIRE((*cluster_)->create_topic("refunds", 1).ok());
    REQUIRE((*cluster_)->create_topic("orders-retry-5s", 16).ok());
    config.kafka["bootstrap.servers"] = {(*cluster_)->bootstrap(), "", false};
    config.kafka["group.id"] = {"g", "", false};
    config.start_deadline = patience;
  }

  app::Connections ask(const std::string& topic) {
    config.topics = {topic};
    return app::ask_all(config);
  }

  config::Config config;

 private:
  Result<std::unique_ptr<kafka::MockCluster>> cluster_ = kafka::MockCluster::start(2);
};

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "connect: the topics, their partitions and the group's commits are shown and counted") {
  const auto found = ask("orders");
  REQUIRE(found.cluster);
  CHECK(found.cluster->partitions == 16);
  CHECK(found.cluster->brokers == 2);
  CHECK(found.cluster->known);
  CHECK_FALSE(found.brokers.error);
  CHECK(found.brokers.details ==
        "  topic orders: 16 partitions\n  group g: committed offsets in 0 of 16 partitions\n");
  CHECK(verdict(found).starts_with("connections work: the brokers answered in "));
}

TEST_CASE_METHOD(Fixture, "connect: the partitions of all topics that match a pattern are counted") {
  const auto found = ask("^(orders|refunds)$");
  REQUIRE(found.cluster);
  CHECK(found.cluster->partitions == 17);
  CHECK(found.brokers.details.find("topic refunds: 1 partition\n") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "connect: retry topics are counted, also retry topics that do not exist yet") {
  config.retry.topics = {{"5s", seconds(5)}, {"1m", seconds(60)}};
  const auto found = ask("orders");
  REQUIRE(found.cluster);
  CHECK(found.cluster->partitions == 48);
  CHECK(found.brokers.details.find("retry topic orders-retry-5s: 16 partitions\n") != std::string::npos);
  CHECK(found.brokers.details.find("retry topic orders-retry-1m: does not exist yet\n") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "connect: the number of partitions stays assumed while a pattern matches nothing") {
  const auto found = ask("^none");
  REQUIRE(found.cluster);
  CHECK_FALSE(found.cluster->known);
  CHECK(found.cluster->partitions == app::Cluster{}.partitions);
  CHECK(found.brokers.details == "  no topic matches ^none yet\n");
}

TEST_CASE_METHOD(Fixture, "connect: a missing topic is unavailable and named") {
  const auto found = ask("none");
  REQUIRE_FALSE(found.cluster);
  REQUIRE(found.brokers.error);
  CHECK(found.brokers.error->kind == ErrorKind::unavailable);
  CHECK(found.brokers.error->message.find("none") != std::string::npos);
  CHECK(verdict(found) == "connections fail: the brokers\n");
}

TEST_CASE("connect: brokers that do not answer are given up after start_deadline or 8 s") {
  config::Config config;
  config.kafka["bootstrap.servers"] = {"127.0.0.1:9", "", false};
  config.kafka["group.id"] = {"g", "", false};
  config.topics = {"orders"};
  config.start_deadline = milliseconds(700);
  const auto found = app::ask_all(config);
  REQUIRE(found.brokers.error);
  CHECK(found.brokers.error->message.find("; laneway check waited 700ms") != std::string::npos);
  CHECK_FALSE(found.handler.error);
}

TEST_CASE("connect: the handler of each pool is checked, and named if it does not answer") {
  config::Config config;
  config.kafka["bootstrap.servers"] = {"127.0.0.1:9", "", false};
  config.kafka["group.id"] = {"g", "", false};
  config.topics = {"orders"};
  config.start_deadline = milliseconds(700);
  config::PoolSettings works;
  works.name = "works";
  works.handler = config::ExecSettings{.command = {"/bin/cat"}};
  config::PoolSettings fails;
  fails.name = "fails";
  config::HttpSettings nowhere;
  nowhere.url = "http://127.0.0.1:9/";
  fails.handler = nowhere;
  config.pools = {works, fails};
  const auto found = app::ask_all(config);
  CHECK(found.handler.details.find("  handler of the pool works: /bin/cat starts") == 0);
  REQUIRE(found.handler.error);
  CHECK(found.handler.error->message.find("the handler of the pool fails: ") == 0);
}
