#include "lane/source/partition_source.h"

#include <utility>

#include "catch.h"
#include "eventually.h"
#include "kafka/produce/producer.h"
#include "mock_cluster.h"

using namespace laneway;

namespace {

const kafka::TopicPartition partition{"orders", 0};

void produce(const kafka::ClientSettings& settings, int records) {
  auto producer = kafka::Producer::create({.client = kafka::producer_client(settings)});
  REQUIRE(producer);
  const kafka::Outgoing record{.topic = partition.topic, .partition = partition.partition, .value = "value"};
  for (int i = 0; i < records; ++i) REQUIRE((*producer)->send(record, nullptr).sent == kafka::Sent::accepted);
  REQUIRE((*producer)->flush(Deadline::in(patience)));
}

/// The offset of the next record; negative if none comes for long.
std::int64_t next(lane::PartitionSource& source) {
  kafka::Record record;
  std::int64_t offset = -1;
  return eventually([&] { return source.pop(record, offset) == kafka::Pop::record; }) ? offset : -1;
}

}  // namespace

TEST_CASE("a partition that was given back while paused delivers when it is assigned again") {
  auto cluster = kafka::MockCluster::start(1);
  REQUIRE(cluster);
  REQUIRE((*cluster)->create_topic(partition.topic, 1));
  const kafka::ClientSettings settings{{"bootstrap.servers", {(*cluster)->bootstrap(), "", false}},
                                       {"group.id", {"orders", "", false}}};
  produce(settings, 10);
  auto consumer = kafka::Consumer::create(settings, {}, [] {});
  REQUIRE(consumer);
  const auto take_over = [&](std::int64_t from) {
    auto source = std::make_unique<lane::KafkaSource>(**consumer, partition, [] {});
    REQUIRE((*consumer)->assign({{partition, from, ""}}));
    return source;
  };
  auto source = take_over(0);
  CHECK(next(*source) == 0);
  source->pause();
  source.reset();
  REQUIRE((*consumer)->unassign({partition}, true));
  source = take_over(1);
  CHECK(next(*source) == 1);
  source.reset();
  REQUIRE((*consumer)->unassign({partition}, true));
  consumer->reset();
}

TEST_CASE("a lane does not inherit an earlier lane's knowledge of the log, because the topic may be new") {
  auto cluster = kafka::MockCluster::start(1);
  REQUIRE(cluster);
  REQUIRE((*cluster)->create_topic(partition.topic, 1));
  const kafka::ClientSettings settings{{"bootstrap.servers", {(*cluster)->bootstrap(), "", false}},
                                       {"group.id", {"orders", "", false}}};
  produce(settings, 10);
  auto consumer = kafka::Consumer::create(settings, {}, [] {});
  REQUIRE(consumer);
  auto source = std::make_unique<lane::KafkaSource>(**consumer, partition, [] {});
  std::uint64_t heard = 0;
  source->ask_log(false);
  REQUIRE(eventually([&] {  // one question at a time: no answer comes later
    const auto answer = source->log_answer();
    if (std::exchange(heard, answer.number) != answer.number && !answer.error.empty()) source->ask_log(false);
    return answer.bounds.end == 10;
  }));
  source.reset();
  source = std::make_unique<lane::KafkaSource>(**consumer, partition, [] {});
  CHECK(source->log_answer().number == 0);
  CHECK(source->log_answer().bounds.end == kafka::no_offset);
  source.reset();
  consumer->reset();
}
