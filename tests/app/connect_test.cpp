#include "app/connect.h"

#include <sstream>

#include "catch.h"
#include "eventually.h"
#include "kafka/testing/embedded_cluster.h"

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

  Result<app::Cluster> ask(const std::string& topic) {
    config.topics = {topic};
    return app::ask_brokers(config, out);
  }

  config::Config config;
  std::ostringstream out;

 private:
  Result<std::unique_ptr<kafka::EmbeddedCluster>> cluster_ = kafka::EmbeddedCluster::start(2);
};

}  // namespace

TEST_CASE_METHOD(Fixture, "what the brokers know of the topics is told and counted") {
  const auto cluster = ask("orders");
  REQUIRE(cluster.ok());
  CHECK(cluster.value().partitions == 16);
  CHECK(cluster.value().brokers == 2);
  CHECK(cluster.value().known);
  CHECK(out.str() == "topic orders: 16 partitions\ngroup g: committed offsets in 0 of 16\n");
}

TEST_CASE_METHOD(Fixture, "the partitions of all topics that a pattern matches are counted") {
  const auto cluster = ask("^(orders|refunds)$");
  REQUIRE(cluster.ok());
  CHECK(cluster.value().partitions == 17);
  CHECK(out.str().find("topic refunds: 1 partition\n") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "retry topics are counted, also those that are yet to be made") {
  config.retry.topics = {{"5s", seconds(5)}, {"1m", seconds(60)}};
  const auto cluster = ask("orders");
  REQUIRE(cluster.ok());
  CHECK(cluster.value().partitions == 48);
  CHECK(out.str().find("retry topic orders-retry-5s: 16 partitions\n") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a pattern that matches nothing yet leaves the partitions assumed") {
  const auto cluster = ask("^none");
  REQUIRE(cluster.ok());
  CHECK_FALSE(cluster.value().known);
  CHECK(cluster.value().partitions == app::Cluster{}.partitions);
  CHECK(out.str() == "no topic matches ^none yet\n");
}

TEST_CASE_METHOD(Fixture, "a topic that does not exist is unavailable and named") {
  const auto cluster = ask("none");
  REQUIRE_FALSE(cluster.ok());
  CHECK(cluster.error().kind == ErrorKind::unavailable);
  CHECK(cluster.error().message.find("none") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a handler that talks to no one has nobody to be asked") {
  CHECK(app::ask_handler(config, out).ok());
  CHECK(out.str().empty());
}
