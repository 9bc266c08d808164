// What a directory asks of brokers.
#include "kafka/admin/directory.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "eventually.h"
#include "kafka/client/client_support.h"
#include "kafka/group/consumer.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

/// A cluster with a few topics, and a directory of it.
struct OpenDirectory {
  explicit OpenDirectory(int brokers = 1) {
    auto started = MockCluster::start(brokers);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic("orders", 2));
    REQUIRE(cluster->create_topic("orders-eu", 3));
    REQUIRE(cluster->create_topic("refunds", 1));
    auto opened = Directory::open(settings());
    REQUIRE(opened);
    directory = std::move(opened).value();
  }
  ClientSettings settings() const {
    return {{"bootstrap.servers", {cluster->bootstrap(), "", false}}, {"group.id", {"orders", "", false}}};
  }
  /// "orders/2", with the number of partitions.
  std::vector<std::string> found(const std::vector<std::string>& subscription) const {
    const auto topics = directory->topics(subscription, patience);
    REQUIRE(topics);
    std::vector<std::string> found;
    for (const auto& topic : *topics) found.push_back(topic.name + '/' + std::to_string(topic.partitions));
    return found;
  }

  std::unique_ptr<MockCluster> cluster;
  std::unique_ptr<Directory> directory;
};

struct OpenDirectoryOfThree : OpenDirectory {
  OpenDirectoryOfThree() : OpenDirectory(3) {}
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the right to read a topic is checked at a partition with a leader") {
  constexpr std::int32_t no_leader = -1;
  const auto cluster = MockCluster::start(1);
  REQUIRE(cluster);
  REQUIRE((*cluster)->create_topic("orders", 2));
  REQUIRE((*cluster)->set_leader("orders", 0, no_leader));
  REQUIRE((*cluster)->delay_next(1, MockCluster::Request::list_offsets, {milliseconds(1)},
                                 MockCluster::Failure::denied));
  const auto directory = Directory::open(
      {{"bootstrap.servers", {(*cluster)->bootstrap(), "", false}}, {"group.id", {"orders", "", false}}});
  REQUIRE(directory);
  const auto topics = (*directory)->topics({"orders"}, patience);
  REQUIRE(topics);
  const auto readable = (*directory)->readable(*topics, patience);
  REQUIRE_FALSE(readable);
  CHECK(readable.error().message == "topic orders: access denied");
}

TEST_CASE_METHOD(OpenDirectoryOfThree,
                 "topics are listed in the order of their names, with their partitions") {
  CHECK(found({"refunds", "orders"}) == Names{"refunds/1", "orders/2"});
  CHECK(directory->brokers() == 3);
  CHECK_FALSE(directory->cluster(patience).empty());
}

TEST_CASE_METHOD(OpenDirectory, "a pattern finds its topics, except those that are left out") {
  config::Config config;
  const auto find = [&](const std::string& pattern) {
    config.topics = {pattern};
    const auto all = directory->consumed(config::ConsumedTopics(config), patience);
    REQUIRE(all);
    return *all;
  };
  const auto names = [](const FoundTopics& found) {
    Names all;
    for (const auto& topic : found.topics) all.push_back(topic.name + '/' + std::to_string(topic.partitions));
    std::sort(all.begin(), all.end());
    return all;
  };
  CHECK(names(find("^orders")) == Names{"orders-eu/3", "orders/2"});
  CHECK(names(find("^none-of-them$")).empty());
  config.dead_letter.topic = "{topic}-eu";
  config.exclude_topics = {"refunds"};
  const auto found = find("^orders|refunds");
  CHECK(names(found) == Names{"orders/2"});
  auto left_out = found.left_out;
  std::sort(left_out.begin(), left_out.end());
  CHECK(left_out == Names{"orders-eu (dead_letter.topic)", "refunds (exclude_topics)"});
}

TEST_CASE_METHOD(
    OpenDirectory,
    "a missing topic is an error in a subscription, and absent from the list of existing topics") {
  // The embedded cluster of librdkafka 2.0.2 makes a topic that a subscription asks for: existing() comes
  // first.
  const auto existing = directory->existing({"invoices", "orders-eu"}, patience);
  REQUIRE(existing);
  REQUIRE(existing->size() == 1);
  CHECK(existing->at("orders-eu").partitions == 3);
  const auto topics = directory->topics({"orders", "invoices"}, patience);
  REQUIRE_FALSE(topics);
  CHECK(topics.error().kind == ErrorKind::unavailable);
  CHECK(topics.error().message == "topic invoices does not exist");
}

TEST_CASE_METHOD(OpenDirectory, "topics that no broker refuses may be read") {
  const auto topics = directory->topics({"orders", "refunds"}, patience);
  REQUIRE(topics);
  CHECK(directory->readable(*topics, patience));
}

TEST_CASE_METHOD(OpenDirectory,
                 "a silent broker refuses nothing, and the wait ends when the caller gives up") {
  const auto topics = directory->topics({"orders"}, patience);
  REQUIRE(topics);
  REQUIRE(cluster->set_latency(1, 600000));
  int questions = 0;
  CHECK(directory->readable(*topics, patience, [&] { return ++questions == 2; }));
  CHECK(questions == 2);
}

TEST_CASE_METHOD(OpenDirectory, "the commits of a group are returned with their metadata") {
  const std::vector<TopicPartition> partitions{{"orders", 0}, {"orders", 1}};
  auto consumer = Consumer::create(settings(), {}, [] {});
  REQUIRE(consumer);
  REQUIRE((*consumer)->commit(1, {{partitions[1], 5, "the map"}}));
  REQUIRE(eventually([&] {
    const auto event = (*consumer)->poll();
    return event && std::holds_alternative<CommitResult>(*event);
  }));
  const auto committed = directory->committed(partitions, patience);
  REQUIRE(committed);
  REQUIRE(committed->size() == 2);
  CHECK((*committed)[0].offset == no_offset);
  CHECK((*committed)[1].offset == 5);
  CHECK((*committed)[1].metadata == "the map");
}

TEST_CASE_METHOD(OpenDirectory, "brokers that do not answer are unavailable") {
  REQUIRE(cluster->stop_broker(1));
  for (const auto& error : {directory->topics({"orders"}, milliseconds(1)).error(),
                            directory->existing({"orders"}, milliseconds(1)).error()}) {
    CAPTURE(error.text());
    CHECK(error.kind == ErrorKind::unavailable);
  }
  CHECK_FALSE(directory->committed({{"orders", 0}}, milliseconds(1)));
}

TEST_CASE_METHOD(
    OpenDirectory,
    "without the brokers' settings, a retention is unknown and the group's protocol counts as offered") {
  REQUIRE(directory->topics({"orders"}, patience));
  CHECK_FALSE(directory->retention("orders", seconds(1)));
  auto asking = settings();
  asking["group.protocol"] = {"consumer", "", false};
  if (unsupported(asking, linked_client())) return;
  const auto other = Directory::open(asking);
  REQUIRE(other);
  REQUIRE((*other)->topics({"orders"}, patience));
  CHECK((*other)->offers_protocol(seconds(1)));
}

TEST_CASE("a directory with wrong settings is not opened") {
  const auto directory = Directory::open({{"no.such.key", {"1", "f.yaml:2:3", false}}});
  REQUIRE_FALSE(directory);
  CHECK(directory.error().kind == ErrorKind::configuration);
}
