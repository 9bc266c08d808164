// The transactional produce handler in a service, on an embedded cluster: nothing is lost when transactions
// fail. The scenarios on a real Kafka check that readers of committed records see nothing twice.
#include <algorithm>
#include <map>

#include "captured_log.h"
#include "catch.h"
#include "kafka/libraries.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;
using Cluster = kafka::MockCluster;

namespace {

constexpr int partitions = 3;

struct Copying : World {
  explicit Copying(int brokers = 1) : World(partitions, brokers) {
    REQUIRE(cluster->create_topic("orders-out", partitions));
    config::ProduceSettings handler;
    handler.topic = "{topic}-out";
    handler.partition = config::ProduceSettings::Partition::keep;
    handler.transactional = true;
    config.handler = handler;
    config.unnamed.breaker.probe = milliseconds(100);
  }

  std::unique_ptr<Service> copy() {
    auto made = std::make_unique<Service>(config);
    REQUIRE(made->start());
    return made;
  }

  /// Writes numbered records to every partition.
  void write(int count) {
    auto producer = kafka::Producer::create({.client = kafka::producer_client(config.kafka)});
    REQUIRE(producer);
    for (int i = 0; i < count; ++i, ++number_)
      for (std::int32_t p = 0; p < partitions; ++p) {
        const auto value = std::to_string(number_);
        const kafka::Outgoing record{.topic = "orders", .partition = p, .value = value};
        REQUIRE((*producer)->send(record, nullptr).sent == kafka::Sent::accepted);
      }
    REQUIRE((*producer)->flush(Deadline::in(patience)));
    REQUIRE((*producer)->failed() == 0);
  }

  bool all_committed(const Service& service) const {
    const auto lanes = service.snapshot();
    return lanes.size() == partitions && std::all_of(lanes.begin(), lanes.end(), [&](const LaneView& lane) {
             return lane.committed == number_;
           });
  }

  /// How often each value is in a partition of the output, or of another topic.
  std::map<std::string, int> copies(std::int32_t partition, const std::string& topic = "orders-out") {
    auto consumer = kafka::Consumer::create(config.kafka, {}, [] {});
    REQUIRE(consumer);
    auto queue = (*consumer)->open_queue({topic, partition}, [] {});
    REQUIRE((*consumer)->assign({{{topic, partition}, 0, {}}}));
    std::map<std::string, int> found;
    REQUIRE(eventually([&] {
      kafka::Record record;
      std::int64_t offset = 0;
      auto pop = queue->pop(record, offset);
      for (; pop == kafka::Pop::record; pop = queue->pop(record, offset))
        ++found[std::string(*record.raw_value())];
      return pop == kafka::Pop::end_of_partition;
    }));
    queue.reset();
    REQUIRE((*consumer)->unassign({}, true));
    consumer->reset();
    return found;
  }

  bool nothing_missing() {
    for (std::int32_t p = 0; p < partitions; ++p)
      if (copies(p).size() != static_cast<std::size_t>(number_)) return false;
    return true;
  }
  bool nothing_twice() {
    for (std::int32_t p = 0; p < partitions; ++p)
      for (const auto& [value, times] : copies(p))
        if (times != 1) return false;
    return true;
  }

 private:
  int number_ = 0;
};

std::uint64_t youngest(const Service& service) {
  std::uint64_t epoch = 0;
  for (const auto& lane : service.snapshot()) epoch = std::max(epoch, lane.epoch);
  return epoch;
}

}  // namespace

TEST_CASE("records are copied in transactions, each once, and the last transaction ends with the service") {
  Copying world;
  world.write(200);
  const auto service = world.copy();
  CHECK(eventually([&] { return world.all_committed(*service); }));
  world.write(100);
  CHECK(eventually([&] { return world.all_committed(*service); }));
  CHECK(metric(*service, "commits_total", "failure") == 0);
  CHECK(metric(*service, "producer_renewals_total") == 0);
  stop_cleanly(*service);
  CHECK(world.nothing_missing());
  CHECK(world.nothing_twice());
}

TEST_CASE("records that brokers refuse fail their transaction, and all of the transaction is repeated") {
  Copying world;
  world.write(600);
  world.config.lanes.rate = {10, 0, milliseconds(500)};  // so that some records are committed before the
                                                         // failure
  const auto service = world.copy();
  CHECK(eventually([&] { return metric(*service, "lane_committed_offset") > 0; }));
  const auto epoch = youngest(*service);
  world.cluster->fail_next(Cluster::Request::produce, 1, Cluster::Failure::denied);
  auto faster = world.config;
  faster.lanes.rate = {};
  REQUIRE(service->change(faster));
  CHECK(eventually([&] { return world.all_committed(*service); }));
  CHECK(youngest(*service) > epoch);  // the lanes started over
  CHECK(metric(*service, "producer_renewals_total", "aborted") == 1);
  stop_cleanly(*service);
  CHECK(world.nothing_missing());
}

TEST_CASE("a lane without a committed offset starts over from its first record") {
  Copying world;
  world.write(100);
  world.cluster->fail_next(Cluster::Request::produce, 2, Cluster::Failure::denied);
  const auto service = world.copy();
  CHECK(eventually([&] { return world.all_committed(*service); }));
  stop_cleanly(*service);
  CHECK(world.nothing_missing());
}

TEST_CASE("a service whose transactions hang in the client ends with an error and loses nothing") {
  if (kafka::libraries().front().version.find("(bundled)") != std::string::npos) {
    WARN("left out: the bundled client returns from each call");
    return;
  }
  Copying world(2);  // broker 1 has everything except the group
  for (const auto* topic : {"orders", "orders-out"})
    for (std::int32_t p = 0; p < partitions; ++p) REQUIRE(world.cluster->set_leader(topic, p, 1));
  REQUIRE(world.cluster->set_coordinator("orders", 2));
  REQUIRE(world.cluster->set_transaction_coordinator("orders-a", 1));
  world.config.kafka["group.instance.id"] = {"a", "", false};
  // Longer than the coordinator is away, and shorter than a test waits: the next member has no partitions for
  // this time.
  world.config.kafka["session.timeout.ms"] = {"20000", "", false};
  world.config.lanes.drain = seconds(1);
  std::get<config::ProduceSettings>(world.config.handler).client["socket.timeout.ms"] = {"1000", "", false};
  auto service = world.copy();
  world.write(100);
  REQUIRE(eventually([&] { return world.all_committed(*service); }));
  REQUIRE(world.cluster->stop_broker(2));
  world.write(100);
  const auto ended = service->wait();
  REQUIRE(ended.error);
  CHECK(ended.error->kind == ErrorKind::fatal);
  CHECK_THAT(ended.error->text(), Catch::Contains("sending offsets: the Kafka client has not returned"));
  REQUIRE(world.cluster->start_broker(2));  // so that the call returns; the program would not wait for it
  service.reset();
  const auto next = world.copy();
  CHECK(eventually([&] { return world.all_committed(*next); }));
  stop_cleanly(*next);
  CHECK(world.nothing_missing());
}

TEST_CASE("a record that brokers refuse is left out of the next transaction and becomes a dead letter") {
  Copying world;
  REQUIRE(world.cluster->create_topic("orders-dlt", partitions));
  world.config.dead_letter.topic = "{topic}-dlt";
  world.write(1);
  world.cluster->fail_next(Cluster::Request::produce, 1, Cluster::Failure::too_large);
  const auto service = world.copy();
  CHECK(eventually([&] { return world.all_committed(*service); }));
  world.write(100);
  CHECK(eventually([&] { return world.all_committed(*service); }));
  stop_cleanly(*service);
  std::size_t letters = 0;
  for (std::int32_t p = 0; p < partitions; ++p) {
    const auto dead = world.copies(p, "orders-dlt").size();
    CHECK(world.copies(p).size() + dead == 101);
    letters += dead;
  }
  CHECK(letters > 0);  // one for each partition in the request
}

TEST_CASE("lost partitions fail the transaction, and nothing is lost") {
  Copying world;
  world.rebalance_soon();
  const auto service = world.copy();
  world.write(100);
  CHECK(eventually([&] { return world.all_committed(*service); }));
  world.cluster->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::unknown_member);
  for (int i = 0; i < 10; ++i) world.write(20);
  CHECK(eventually([&] { return metric(*service, "rebalances_total", "lost") > 0; }));
  CHECK(eventually([&] { return world.all_committed(*service); }));
  stop_cleanly(*service);
  CHECK(world.nothing_missing());
}

TEST_CASE("a stop whose last transaction fails names each partition and the number of records to repeat") {
  const CapturedLog log;
  Copying world;
  world.config.commit = {std::chrono::hours(1), 1'000'000};  // the only transaction ends with the service
  world.config.retry.max_crashes = 0;                        // no commit marks the records that run
  world.write(20);
  const auto service = world.copy();
  REQUIRE(eventually([&] { return metric(*service, "pool_jobs_total", "success") == 20 * partitions; }));
  world.cluster->fail_next(Cluster::Request::send_offsets, 1000, Cluster::Failure::denied);
  service->stop();
  const auto ended = service->wait();
  CHECK(ended.uncommitted == 20 * partitions);
  CHECK(ended.abandoned == 0);
  CHECK_FALSE(ended.stuck);
  CHECK_FALSE(ended.error);
  const std::string event = "finished records are not committed and run again";
  CHECK(log.lines({event}) == partitions);
  CHECK(log.lines({event, "topic=orders partition=1 ", "records=20"}) == 1);
}
