// A batch that is large only when it is decompressed, in a whole service on an embedded cluster.
#include "catch.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;

namespace {

/// Writes records of 1 MB that compress well, in one batch.
void produce_one_batch(World& world, int records) {
  auto client = kafka::producer_client(world.config.kafka, {{"compression.type", {"zstd", "", false}},
                                                            {"linger.ms", {"3000", "", false}},
                                                            {"batch.size", {"500000000", "", false}},
                                                            {"message.max.bytes", {"500000000", "", false}}});
  auto producer = kafka::Producer::create({.client = std::move(client)});
  REQUIRE(producer);
  const std::string topic = "orders";
  const std::string value(1'000'000, 'x');
  for (int i = 0; i < records; ++i)
    REQUIRE((*producer)->send({.topic = topic, .partition = 0, .value = value}, nullptr).sent ==
            kafka::Sent::accepted);
  REQUIRE((*producer)->flush(Deadline::in(patience)));
  REQUIRE((*producer)->failed() == 0);
}

}  // namespace

TEST_CASE("a zstd batch is read although it is larger than 100 MB when decompressed") {
  World world(1);
  produce_one_batch(world, 110);
  const auto service = world.started();
  CHECK(eventually([&] { return world.history.distinct_done() == 110; }));
  stop_cleanly(*service);
}

TEST_CASE("a batch larger than receive.message.max.bytes is reported with this key, not with a skip") {
  World world(1);
  world.config.lanes.memory = 1 << 20;
  world.config.kafka["receive.message.max.bytes"] = {"60000000", "", false};
  produce_one_batch(world, 80);
  const auto service = world.started();
  std::string error;
  CHECK(eventually([&] {
    const auto status = service->status();
    if (!status.lanes.empty()) error = status.lanes.front().detail.source_error;
    return !error.empty();
  }));
  CHECK(error.find("raise kafka.receive.message.max.bytes") != std::string::npos);
  CHECK(error.find("skip") == std::string::npos);
  CHECK(world.history.distinct_done() == 0);
  stop_cleanly(*service);
}
