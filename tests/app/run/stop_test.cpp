// The exit code of a service that stops, on an embedded cluster.
#include <future>
#include <optional>

#include "app/exit_code.h"
#include "app/run/serve.h"
#include "catch.h"
#include "service/support.h"

using namespace laneway;
using Cluster = kafka::MockCluster;

namespace {

/// Copies records in a transaction that ends with the service, and returns the exit code. `fails`: the
/// brokers refuse the offsets of this transaction.
int exit_code_of_a_stop(bool fails) {
  service::World world(1);
  REQUIRE(world.cluster->create_topic("orders-out", 1));
  config::ProduceSettings produce;
  produce.topic = "{topic}-out";
  produce.transactional = true;
  world.config.handler = produce;
  world.config.commit = {std::chrono::hours(1), 1'000'000};
  world.config.retry.max_crashes = 0;  // no commit marks the records that run
  world.config.admin.enabled = false;
  world.produce(5);
  if (fails) world.cluster->fail_next(Cluster::Request::send_offsets, 1000, Cluster::Failure::denied);
  config::Loaded loaded;
  loaded.config = world.config;
  app::Stop stop;
  auto code = std::async(std::launch::async, [&] {
    return app::serve(loaded, "laneway.yaml", {.handler = {}, .load = {}, .stop = &stop, .signals = false});
  });
  // The records are in the output topic, and finish at the latest in the drain.
  auto reader = kafka::Consumer::create(world.config.kafka, {}, [] {});
  auto queue = (*reader)->open_queue({"orders-out", 0}, [] {});
  (void)(*reader)->assign({{{"orders-out", 0}, 0, {}}});
  int copies = 0;
  CHECK(eventually([&] {
    kafka::Record record;
    std::int64_t offset = 0;
    while (queue->pop(record, offset) == kafka::Pop::record) ++copies;
    return copies == 5;
  }));
  stop.request();
  queue.reset();
  (void)(*reader)->unassign({}, true);
  return code.get();
}

}  // namespace

TEST_CASE("a service whose last transaction fails ends with the exit code for unfinished work") {
  CHECK(exit_code_of_a_stop(true) == app::exit_code::abandoned);
  CHECK(exit_code_of_a_stop(false) == app::exit_code::done);
}
